#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// The weights of a model under a source's names, with the constants that the source saves: what import_weights takes
/// back bit for bit. Throws io::Error if the source has no such model (T2T's names for a PVT), if its parts do not
/// fit the source's form, and if the source's code would compute something else with these weights.
io::TensorMap export_weights(const SavedModel& saved, io::NameSource source);

/// A line for the user if weights under our names have the names of another code as well, as those of a plain ViT have
/// timm's: import_weights takes them for that code's. Nothing otherwise.
std::optional<std::string> note_on_names(const SavedModel& saved, io::NameSource source, const io::TensorMap& written);

/// Whose names are taken if none are asked for: timm's of an image model that timm's code computes, else ours.
io::NameSource usual_names(const models::ModelPlan& plan);

}  // namespace cachet::tasks
