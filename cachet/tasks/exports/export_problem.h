#pragma once

#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Rethrows the current exception. Replaces CannotConvert, EngineError and ExportNotFinite by std::runtime_error, whose
/// first line has a remedy and whose second line has the reason.
[[noreturn]] void throw_export_problem(const SavedRun& saved, runtime::EngineKind engine, runtime::Precision precision);

}  // namespace cachet::tasks
