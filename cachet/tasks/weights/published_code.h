#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/model.h"

namespace cachet::tasks {

/// Returns the part of a model that a source's code does not compute, with the keys that chose it: "an attention
/// function other than softmax (model.attention.kind)". Empty if the code computes the model. Names and shapes do not
/// reveal this: elu attention has the weights of softmax attention, and that code would load them and compute softmax.
std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model);

}  // namespace cachet::tasks
