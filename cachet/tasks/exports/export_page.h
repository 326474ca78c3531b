#pragma once

#include "cachet/report/content.h"
#include "cachet/tasks/exports/model_export.h"

namespace cachet::tasks {

/// The page of an export: what it is, how far it lies from its model, and what became of each norm and cache.
report::Page export_page(const ExportReport& report);

}  // namespace cachet::tasks
