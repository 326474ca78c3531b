#include "cachet/runtime/image_preparation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/images/image_format.h"
#include "cachet/io/images/image_metadata.h"
#include "cachet/io/images/jpeg_codec.h"
#include "cachet/io/images/luma.h"
#include "cachet/io/images/png_codec.h"
#include "cachet/io/images/upright.h"

namespace cachet::runtime {
namespace {

uint8_t* take_memory(Pixels& image, const io::PixelSize& size) {
  image.size = {size.height, size.width};
  image.channels = size.channels;
  image.values.resize(size.height * size.row_bytes());
  return image.values.data();
}

// Grey of RGB, or grey three times.
Pixels with_channels(const Pixels& image, int64_t channels) {
  if (image.channels == channels) return image;
  Pixels result{image.size, channels, {}};
  result.values.reserve(image.values.size() / static_cast<size_t>(image.channels) * static_cast<size_t>(channels));
  for (size_t i = 0; i < image.values.size(); i += static_cast<size_t>(image.channels)) {
    const uint8_t* pixel = image.values.data() + i;
    if (channels == 1)
      result.values.push_back(io::luma(pixel[0], pixel[1], pixel[2]));
    else
      result.values.insert(result.values.end(), 3, pixel[0]);
  }
  return result;
}

Pixels upright(Pixels stored, int orientation) {
  if (orientation == 1) return stored;
  const io::PixelSize size{static_cast<uint32_t>(stored.size.height), static_cast<uint32_t>(stored.size.width),
                           static_cast<uint32_t>(stored.channels)};
  Pixels image{io::upright_size(stored.size, orientation), stored.channels, {}};
  image.values.resize(stored.values.size());
  io::turn_upright(stored.values.data(), size, orientation, image.values.data());
  return image;
}

int64_t half_to_even(double value) { return static_cast<int64_t>(std::nearbyint(value)); }

Pixels part_of(const Pixels& image, const io::ImageRegion& region) {
  Pixels part{{region.height, region.width}, image.channels, {}};
  part.values.reserve(static_cast<size_t>(region.height * region.width * image.channels));
  for (int64_t y = region.top; y < region.top + region.height; ++y) {
    const auto row = image.values.begin() + (y * image.size.width + region.left) * image.channels;
    part.values.insert(part.values.end(), row, row + region.width * image.channels);
  }
  return part;
}

// The middle of the smallest size of the image's proportions that covers the input / crop_fraction.
Pixels middle_of(const Pixels& image, const ImagePreparation& to) {
  // Of an image much longer than the input its middle, so that a line of a pixel does not become a gigabyte.
  constexpr int64_t kMaxTimes = 4;
  const auto longest = [](int64_t other, int64_t wanted, int64_t other_wanted) {
    return std::max<int64_t>(1, kMaxTimes * other * wanted / other_wanted);
  };
  const io::ImageSize kept{std::min(image.size.height, longest(image.size.width, to.height, to.width)),
                           std::min(image.size.width, longest(image.size.height, to.width, to.height))};
  const Pixels part = part_of(
      image, {(image.size.height - kept.height) / 2, (image.size.width - kept.width) / 2, kept.height, kept.width});
  const auto covering = [&](int64_t side) {
    return static_cast<int64_t>(std::floor(static_cast<double>(side) / to.crop_fraction + 1e-9));
  };
  const int64_t height = covering(to.height), width = covering(to.width);
  const io::ImageSize size{std::max(height, width * kept.height / kept.width),
                           std::max(width, height * kept.width / kept.height)};
  return part_of(resized(part, size, to.filter),
                 {half_to_even(static_cast<double>(size.height - to.height) / 2),
                  half_to_even(static_cast<double>(size.width - to.width) / 2), to.height, to.width});
}

Raster<float> normalized(const Pixels& image, const ImagePreparation& to) {
  Raster<float> result{image.size, image.channels, {}};
  result.values.reserve(image.values.size());
  std::vector<float> scales, shifts;
  for (size_t c = 0; c < to.mean.size(); ++c) {
    scales.push_back(static_cast<float>(1 / (255 * to.deviation[c])));
    shifts.push_back(static_cast<float>(-to.mean[c] / to.deviation[c]));
  }
  for (size_t i = 0; i < image.values.size(); ++i) {
    const size_t c = i % static_cast<size_t>(image.channels);
    result.values.push_back(static_cast<float>(image.values[i]) * scales[c] + shifts[c]);
  }
  return result;
}

// Channel by channel.
std::vector<float> planes(const Raster<float>& image) {
  std::vector<float> all;
  all.reserve(image.values.size());
  for (size_t c = 0; c < static_cast<size_t>(image.channels); ++c)
    for (size_t i = c; i < image.values.size(); i += static_cast<size_t>(image.channels))
      all.push_back(image.values[i]);
  return all;
}

}  // namespace

Pixels decode(std::span<const std::byte> bytes, std::string_view name, int64_t channels,
              io::OrientationRule orientation) {
  if (channels != 1 && channels != 3) throw io::Error(std::string(name) + ": images must have 1 or 3 channels");
  Pixels image;
  const auto allocate = [&](const io::PixelSize& size) { return take_memory(image, size); };
  const io::ImageReadOptions options{.channels = channels == 1 ? io::ImageChannels::grey : io::ImageChannels::rgb};
  const std::string_view format = io::image_format(bytes);
  if (format == "JPEG")
    io::decode_jpeg_rows(bytes, name, options, allocate);
  else if (format == "PNG")
    io::decode_png_rows(bytes, name, options, allocate);
  else
    throw io::Error(std::string(name) + ": is not a JPEG or PNG image");
  if (orientation == io::OrientationRule::apply)
    image = upright(std::move(image), io::image_metadata(bytes).orientation);
  return with_channels(image, channels);
}

std::vector<float> prepare(const Pixels& image, const ImagePreparation& to) {
  const Pixels sized = to.first_height > 0 ? resized(image, {to.first_height, to.first_width}, to.filter) : image;
  const io::ImageSize input{to.height, to.width};
  if (to.middle) return planes(normalized(middle_of(sized, to), to));
  return planes(resized(normalized(sized, to), input, to.filter));
}

std::vector<float> prepare_file(const std::filesystem::path& file, const ImagePreparation& preparation) {
  return prepare(
      decode(io::read_file(file, io::kMaxImageFileBytes), file.string(), preparation.channels, preparation.orientation),
      preparation);
}

}  // namespace cachet::runtime
