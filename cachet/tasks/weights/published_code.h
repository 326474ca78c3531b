#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/model.h"

namespace cachet::tasks {

/// Returns the part of a model that a source's code does not compute, with the keys that select it: "an attention
/// function other than softmax (model.attention.kind)". If the published code computes the whole model, returns
/// std::nullopt. Weights do not reveal such a part: for example, elu attention has the same weights as softmax
/// attention, so the published code would compute softmax attention.
std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model);

}  // namespace cachet::tasks
