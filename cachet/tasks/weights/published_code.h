#pragma once

#include <optional>
#include <string>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/models/model.h"

namespace cachet::tasks {

/// Returns the part of a model that the published code of `source` does not compute, with the keys that select the
/// part: "an attention function other than softmax (model.attention.kind)". Returns std::nullopt if the published code
/// can compute the whole model. Weights alone do not show the difference: elu attention has the same weights as softmax
/// attention, and the published code would compute softmax attention with them.
std::optional<std::string> not_computed_by(io::NameSource source, const models::Model& model);

}  // namespace cachet::tasks
