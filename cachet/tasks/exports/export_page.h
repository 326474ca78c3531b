#pragma once

#include "cachet/report/content.h"
#include "cachet/tasks/exports/model_export.h"

namespace cachet::tasks {

/// Returns the page of an export: the contents of the export, its difference from its model, and the new form of each
/// norm and cache.
report::Page export_page(const ExportReport& report);

}  // namespace cachet::tasks
