#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/model.h"

namespace cachet::tasks {

/// Returns the part of a model that the published code of `source` does not compute, with the keys that select the
/// part: "an attention function other than softmax (model.attention.kind)". Returns std::nullopt if the published code
/// can compute the whole model. Weights alone do not show the attention function: elu attention and softmax attention
/// have the same weights, so the published code would compute softmax attention with weights of elu attention.
std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model);

}  // namespace cachet::tasks
