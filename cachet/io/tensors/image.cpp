#include "cachet/io/tensors/image.h"

#include <ATen/ops/empty.h>

#include <stdexcept>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/git_lfs.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/images/image_format.h"
#include "cachet/io/images/image_metadata.h"
#include "cachet/io/images/jpeg_codec.h"
#include "cachet/io/images/luma.h"
#include "cachet/io/images/png_codec.h"
#include "cachet/io/images/upright.h"

namespace cachet::io {
namespace {

at::Tensor grey_of(const at::Tensor& rgb) {
  at::Tensor grey = at::empty({rgb.size(0), rgb.size(1), 1}, at::kByte);
  const auto* in = rgb.const_data_ptr<uint8_t>();
  auto* out = grey.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < grey.numel(); ++i, in += 3) out[i] = luma(in[0], in[1], in[2]);
  return grey;
}

void take_report(ImageReport&& report, DecodedImage& image) {
  image.size = report.size;
  image.warnings = report.warnings;
  image.first_warning = std::move(report.first_warning);
}

DecodedImage decode_jpeg(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options) {
  DecodedImage image;
  take_report(decode_jpeg_rows(bytes, name, options,
                               [&image](const PixelSize& size) {
                                 image.pixels = at::empty({size.height, size.width, size.channels}, at::kByte);
                                 return image.pixels.mutable_data_ptr<uint8_t>();
                               }),
              image);
  return image;
}

DecodedImage decode_png_region(std::span<const std::byte> bytes, std::string_view name,
                               const ImageReadOptions& options) {
  DecodedImage image;
  take_report(decode_png_rows(bytes, name, options,
                              [&image](const PixelSize& size) {
                                image.pixels = at::empty({size.height, size.width, size.channels}, at::kByte);
                                return image.pixels.mutable_data_ptr<uint8_t>();
                              }),
              image);
  if (options.choose) {
    const ImageRegion region = options.choose(image.size).region;
    if (!region.fits(image.size)) throw std::invalid_argument("the requested region must lie inside the image");
    image.pixels = image.pixels.narrow(0, region.top, region.height).narrow(1, region.left, region.width).contiguous();
  }
  const bool is_grey = image.pixels.size(2) == 1;
  if (options.channels == ImageChannels::grey && !is_grey) image.pixels = grey_of(image.pixels);
  if (options.channels == ImageChannels::rgb && is_grey) image.pixels = image.pixels.expand({-1, -1, 3}).contiguous();
  return image;
}

DecodedImage decode_stored(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options) {
  if (bytes.empty()) throw Error(std::string(name) + ": the file is empty");
  const std::string_view format = image_format(bytes);
  if (format == "JPEG") return decode_jpeg(bytes, name, options);
  if (format == "PNG") return decode_png_region(bytes, name, options);
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  if (text.starts_with(kGitLfsPointer)) throw Error(std::string(name) + ": " + kIsGitLfsPointer);
  throw Error(std::string(name) + ": " +
              (format.empty() ? "this is not an image" : "this is a " + std::string(format) + " file") +
              "; only JPEG and PNG are supported");
}

at::Tensor upright_pixels(const at::Tensor& stored, int orientation) {
  const PixelSize size{static_cast<uint32_t>(stored.size(0)), static_cast<uint32_t>(stored.size(1)),
                       static_cast<uint32_t>(stored.size(2))};
  const auto [height, width] = upright_size({stored.size(0), stored.size(1)}, orientation);
  at::Tensor upright = at::empty({height, width, stored.size(2)}, at::kByte);
  turn_upright(stored.const_data_ptr<uint8_t>(), size, orientation, upright.mutable_data_ptr<uint8_t>());
  return upright;
}

}  // namespace

DecodedImage decode_image(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options) {
  const int orientation = image_metadata(bytes).orientation;
  const bool turns = orientation != 1 && options.orientation == OrientationRule::apply;
  ImageReadOptions stored = options;
  if (turns && options.choose)
    stored.choose = [&](const ImageSize& size) {
      return stored_request(options.choose(upright_size(size, orientation)), size, orientation);
    };
  DecodedImage image = decode_stored(bytes, name, stored);
  image.orientation = orientation;
  if (turns) {
    image.pixels = upright_pixels(image.pixels, orientation);
    image.size = upright_size(image.size, orientation);
  }
  return image;
}

DecodedImage read_image(const std::filesystem::path& path, const ImageReadOptions& options) {
  const std::vector<std::byte> bytes = read_file(path, kMaxImageFileBytes);
  if (options.see_bytes) options.see_bytes(bytes);
  return decode_image(bytes, path.string(), options);
}

}  // namespace cachet::io
