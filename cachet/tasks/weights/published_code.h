#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/model.h"

namespace cachet::tasks {

/// Returns the part of a model that a source's code does not compute, with the keys that select it: "an attention
/// function other than softmax (model.attention.kind)". Empty if the code computes the model. Weights do not reveal
/// this part: elu attention has the weights of softmax attention, so the code would compute softmax.
std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model);

}  // namespace cachet::tasks
