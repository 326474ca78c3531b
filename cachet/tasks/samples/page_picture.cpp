#include "cachet/tasks/samples/page_picture.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "cachet/data/vision/pixels/pixel_operations.h"
#include "cachet/io/images/jpeg_encoder.h"
#include "cachet/io/tensors/png.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kLongestExactSide = 64;
constexpr int kJpegQuality = 85;

at::Tensor within(const at::Tensor& pixels, int64_t most_side) {
  const int64_t height = pixels.size(0), width = pixels.size(1), longer = std::max(height, width);
  if (longer <= most_side) return pixels.contiguous();
  const io::ImageSize size{std::max<int64_t>(1, height * most_side / longer),
                           std::max<int64_t>(1, width * most_side / longer)};
  return data::resize_pixels(pixels.contiguous(), size, data::Interpolation::bicubic).contiguous();
}

std::vector<std::byte> encoded(const at::Tensor& pixels) {
  if (std::max(pixels.size(0), pixels.size(1)) <= kLongestExactSide) return io::encode_png(pixels);
  const io::PixelSize size{static_cast<uint32_t>(pixels.size(0)), static_cast<uint32_t>(pixels.size(1)),
                           static_cast<uint32_t>(pixels.size(2))};
  return io::encode_jpeg_rows(pixels.const_data_ptr<uint8_t>(), size, kJpegQuality);
}

}  // namespace

std::string page_picture(const at::Tensor& pixels, int64_t most_side) {
  const std::vector<std::byte> file = encoded(within(pixels, most_side));
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

}  // namespace cachet::tasks
