#pragma once

#include <cstdint>
#include <optional>

#include "cachet/models/model_plan.h"

namespace cachet::models {

/// What images a model is made for.
struct ImageShape {
  int64_t channels = 3, height = 224, width = 224;
};

ModelInput input_of(const ImageShape& image);
/// The other way; none for a model of something else.
std::optional<ImageShape> image_of(const ModelInput& input);

}  // namespace cachet::models
