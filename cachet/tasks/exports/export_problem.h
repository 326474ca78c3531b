#pragma once

#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Rethrows the current exception. If an engine cannot take the model, cannot run it or computes numbers that are not
/// finite, throws std::runtime_error instead, with two lines: the model, what to do, and the reason.
[[noreturn]] void throw_export_problem(const SavedRun& saved, runtime::EngineKind engine, runtime::Precision precision);

}  // namespace cachet::tasks
