#include "cachet/models/vision/image_shape.h"

namespace cachet::models {

ModelInput input_of(const ImageShape& image) {
  return {"image",
          {{"channels", image.channels}, {"height", image.height}, {"width", image.width}},
          std::to_string(image.channels) + " x " + std::to_string(image.height) + " x " + std::to_string(image.width)};
}

}  // namespace cachet::models
