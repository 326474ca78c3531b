#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/tensor_map.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Returns the weights of a model under a published code's names, with the constants that the code saves.
/// import_weights() restores the weights bit for bit. Throws io::Error if the published code lacks the model (T2T has
/// no PVT), if parts of the model do not fit the code, or if the code would compute other results with the weights.
io::TensorMap export_weights(const SavedModel& saved, io::NameSource source);

/// If the names in `written` are Cachet's and also another code's, returns a line for the user; otherwise std::nullopt.
/// For example, the weights of a plain ViT also have timm's names, so import_weights() takes them for timm's weights.
std::optional<std::string> note_on_names(const SavedModel& saved, io::NameSource source, const io::TensorMap& written);

/// Returns the default names of tensors: timm's for image models that timm's code computes, otherwise Cachet's.
io::NameSource usual_names(const models::ModelPlan& plan);

}  // namespace cachet::tasks
