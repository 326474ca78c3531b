#include "cachet/io/tensors/png.h"

#include <ATen/ops/empty.h>

#include <sstream>
#include <stdexcept>

#include "cachet/io/images/png_codec.h"

namespace cachet::io {

std::vector<std::byte> encode_png(const at::Tensor& image) {
  const bool fits = image.defined() && image.scalar_type() == at::kByte && image.dim() == 3 && image.numel() > 0 &&
                    (image.size(2) == 1 || image.size(2) == 3) && image.size(0) <= INT32_MAX &&
                    image.size(1) <= INT32_MAX;
  if (!fits) {
    std::ostringstream message;
    message << "encode_png: image must be uint8 with shape (H, W, 1) or (H, W, 3) and no side of 0, but is ";
    if (image.defined()) message << image.scalar_type() << " of shape " << image.sizes();
    if (!image.defined()) message << "undefined";
    throw std::invalid_argument(message.str());
  }
  const at::Tensor pixels = image.to(at::kCPU).contiguous();
  return encode_png_rows(pixels.const_data_ptr<uint8_t>(),
                         {static_cast<uint32_t>(image.size(0)), static_cast<uint32_t>(image.size(1)),
                          static_cast<uint32_t>(image.size(2))});
}

at::Tensor decode_png(std::span<const std::byte> bytes, std::string_view name, uint64_t max_pixels) {
  at::Tensor image;
  const ImageReadOptions options{.max_pixels = max_pixels, .strict = true};
  decode_png_rows(bytes, name, options, [&image](const PixelSize& size) {
    image = at::empty({size.height, size.width, size.channels}, at::kByte);
    return image.mutable_data_ptr<uint8_t>();
  });
  return image;
}

}  // namespace cachet::io
