#include "cachet/models/vision/image_shape.h"

#include <variant>

namespace cachet::models {

ModelInput input_of(const ImageShape& image) {
  return {"image",
          {{"channels", image.channels}, {"height", image.height}, {"width", image.width}},
          std::to_string(image.channels) + " x " + std::to_string(image.height) + " x " + std::to_string(image.width)};
}

std::optional<ImageShape> image_of(const ModelInput& input) {
  ImageShape image{0, 0, 0};
  for (const auto& [name, size] : input.sizes) {
    const int64_t* number = std::get_if<int64_t>(&size);
    if (number != nullptr && name == "channels") image.channels = *number;
    if (number != nullptr && name == "height") image.height = *number;
    if (number != nullptr && name == "width") image.width = *number;
  }
  if (image.height == 0 || image.width == 0) return std::nullopt;
  return image;
}

}  // namespace cachet::models
