#pragma once

#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Rethrows the current exception. If the exception reports that an engine cannot take or run the model or computes NaN
/// or infinity, replaces it by std::runtime_error with two lines: the model and a remedy, then the reason.
[[noreturn]] void throw_export_problem(const SavedRun& saved, runtime::EngineKind engine, runtime::Precision precision);

}  // namespace cachet::tasks
