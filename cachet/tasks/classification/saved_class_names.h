#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/task_plan.h"

namespace cachet::tasks {

/// Returns the settings that store the names of a run's classes in its recipe: data.class_names. Returns no settings if
/// the run has no class names, or if a recipe cannot hold the names (data::can_be_stored).
SavedFiles keep_class_names(const std::vector<std::string>& names);

/// `names` has the class names of an export's recipe. If `names` is empty, copies the class names of the manifest to
/// `names`, unless the manifest has class numbers in place of names. Throws io::Error if the manifest's number of names
/// is not `classes`, or if its names differ from `names`.
void take_class_names(const runtime::ExportManifest& manifest, int64_t classes, std::vector<std::string>& names);

}  // namespace cachet::tasks
