#pragma once

#include <cstdint>
#include <optional>

#include "cachet/models/model_plan.h"

namespace cachet::models {

/// The shape of the images that a model reads.
struct ImageShape {
  int64_t channels = 3, height = 224, width = 224;
};

ModelInput input_of(const ImageShape& image);
/// Returns the image shape of an input; empty if the input is not an image.
std::optional<ImageShape> image_of(const ModelInput& input);

}  // namespace cachet::models
