// Operations on pixels: {"image": name of a tensor (H, W, C) uint8, "operation": …, its options}; or on an image file:
// {"file": its path, "operation": "decode" or "prepare", …}.
#include <ATen/core/Tensor.h>

#include <stdexcept>
#include <string_view>

#include "cachet/data/vision/augmentation/rand_augment.h"
#include "cachet/data/vision/image_transform.h"
#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/tensors/image.h"
#include "tests/peers/tensor_cases.h"

namespace cachet::data {
namespace {

using Adjust = void (*)(at::Tensor& image, double amount);
constexpr std::pair<std::string_view, Adjust> kAdjustments[] = {{"brightness", adjust_brightness},
                                                                {"contrast", adjust_contrast},
                                                                {"saturation", adjust_saturation},
                                                                {"sharpness", adjust_sharpness},
                                                                {"hue", adjust_hue}};

at::Tensor of_pixels(const nlohmann::json& options, at::Tensor image, Interpolation interpolation) {
  const auto operation = options.at("operation").get<std::string>();
  if (operation == "resize") {
    return resize_pixels(image, {options.at("height").get<int64_t>(), options.at("width").get<int64_t>()},
                         interpolation);
  }
  if (operation == "rand_augment") {
    return apply_operation(image, static_cast<RandAugmentOperation>(options.at("number").get<int>()),
                           options.at("magnitude").get<double>(), options.at("opposite").get<bool>(),
                           options.at("increasing").get<bool>(), {interpolation, options.at("fill").get<FillColour>()});
  }
  for (const auto& [name, adjust] : kAdjustments) {
    if (operation != name) continue;
    adjust(image, options.at("amount").get<double>());
    return image;
  }
  throw std::invalid_argument("there is no operation " + operation);
}

at::Tensor of_file(const nlohmann::json& options, Interpolation interpolation) {
  const auto file = options.at("file").get<std::string>();
  if (options.at("operation") == "decode") return io::read_image(file).pixels;
  const ResizeOptions resize{.image_size = options.at("image_size").get<int64_t>(),
                             .interpolation = interpolation,
                             .crop_fraction = options.at("crop_fraction").get<double>()};
  const Normalization none{{0, 0, 0}, {1, 1, 1}};
  return ImageTransform::for_evaluation({.channels = 3}, none, resize).of_file(file);
}

at::Tensor result_of(const nlohmann::json& options, const io::TensorMap& tensors) {
  const auto interpolation = options.value("bicubic", false) ? Interpolation::bicubic : Interpolation::bilinear;
  if (options.contains("file")) return of_file(options, interpolation);
  return of_pixels(options, tensors.at(options.at("image").get<std::string>()).clone(), interpolation);
}

}  // namespace
}  // namespace cachet::data

int main(int argc, char** argv) { return cachet::peers::run_cases(argc, argv, cachet::data::result_of); }
