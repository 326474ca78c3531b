#pragma once

#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Rethrows the current exception. If an engine cannot take the model, cannot run it or computes numbers that are not
/// finite, throws std::runtime_error instead: the model and a remedy in one line, the reason in the next line.
[[noreturn]] void throw_export_problem(const SavedRun& saved, runtime::EngineKind engine, runtime::Precision precision);

}  // namespace cachet::tasks
