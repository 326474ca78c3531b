#include "cachet/data/text/sequences/pixel_sequences.h"

#include <vector>

#include "cachet/data/text/sequences/sequence_kinds.h"
#include "cachet/data/vision/cifar.h"
#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/tensors/image.h"

namespace cachet::data {

uint8_t arena_grey(uint8_t red, uint8_t green, uint8_t blue) {
  constexpr float kUnit = 1.0f / 255;
  const float grey = static_cast<float>(red) * kUnit * 0.2989f + static_cast<float>(green) * kUnit * 0.5870f +
                     static_cast<float>(blue) * kUnit * 0.1140f;
  return static_cast<uint8_t>(grey * 255.5f);
}

std::vector<Token> pixel_tokens(const at::Tensor& image) {
  const at::Tensor planes = image.contiguous();
  const auto pixels = static_cast<size_t>(planes.size(1) * planes.size(2));
  const auto* red = planes.const_data_ptr<uint8_t>();
  std::vector<Token> tokens(pixels);
  for (size_t i = 0; i < pixels; ++i) tokens[i] = arena_grey(red[i], red[pixels + i], red[2 * pixels + i]);
  return tokens;
}

std::vector<Token> pixel_tokens_of_file(const std::filesystem::path& file,
                                        const std::function<void(std::span<const std::byte> bytes)>& see_bytes) {
  io::ImageReadOptions rgb;
  rgb.channels = io::ImageChannels::rgb;
  rgb.see_bytes = see_bytes;
  const at::Tensor pixels = io::read_image(file, rgb).pixels;
  return pixel_tokens(resize_pixels(pixels, {kPixelSide, kPixelSide}, Interpolation::bicubic).permute({2, 0, 1}));
}

std::shared_ptr<const SequenceDataset> read_cifar10_pixels(const std::filesystem::path& folder, Split split,
                                                           const SequenceRules& rules) {
  const auto samples = read_cifar(CifarKind::cifar10, folder, split);
  SequenceBuilder builder({kGreyValues, "pixels"}, rules);
  for (int64_t i = 0; i < samples->size(); ++i)
    builder.add_sample({.tokens = *builder.add_sequence(pixel_tokens(samples->images().image(i))),
                        .label = samples->labels()[i],
                        .place = i});
  return builder.finish(folder.string(), kCifar10Pixels.class_names(), {.before_place = "image "});
}

}  // namespace cachet::data
