#include "cachet/data/vision/pixels/pixel_operations.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_upsample_bicubic2d_aa.h>
#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "cachet/io/images/luma.h"

namespace cachet::data {
namespace {

// ATen has this operator since LibTorch 2.13, so that it is looked up by its name.
at::Tensor resize_by_lanczos(const at::Tensor& batch, at::IntArrayRef size) {
  const auto found = c10::Dispatcher::singleton().findSchema({"aten::_upsample_lanczos2d_aa", ""});
  if (!found) throw std::runtime_error("interpolation = \"lanczos\" needs LibTorch 2.13 or newer; choose \"bicubic\"");
  using Operator =
      at::Tensor(const at::Tensor&, c10::SymIntArrayRef, bool, std::optional<double>, std::optional<double>);
  return found->typed<Operator>().call(batch, c10::fromIntArrayRefSlow(size), /*align_corners=*/false, std::nullopt,
                                       std::nullopt);
}

}  // namespace

at::Tensor resize_batch(const at::Tensor& batch, const io::ImageSize& size, Interpolation interpolation) {
  const std::vector<int64_t> sides{size.height, size.width};
  switch (interpolation) {
    case Interpolation::bilinear:
      return at::_upsample_bilinear2d_aa(batch, sides, /*align_corners=*/false);
    case Interpolation::bicubic:
      return at::_upsample_bicubic2d_aa(batch, sides, /*align_corners=*/false);
    case Interpolation::lanczos:
      return resize_by_lanczos(batch, sides);
  }
  throw std::logic_error("resize_batch: an unknown interpolation");
}

at::Tensor resize_pixels(const at::Tensor& image, const io::ImageSize& size, Interpolation interpolation) {
  if (image.size(0) == size.height && image.size(1) == size.width) return image;
  const at::Tensor batch = image.permute({2, 0, 1}).unsqueeze(0);  // (1, C, H, W), channels last
  return resize_batch(batch, size, interpolation)[0].permute({1, 2, 0}).contiguous();
}

void mirror_pixels(at::Tensor& image) {
  const int64_t width = image.size(1), channels = image.size(2);
  auto* row = image.mutable_data_ptr<uint8_t>();
  for (int64_t y = 0; y < image.size(0); ++y, row += width * channels) {
    for (int64_t left = 0, right = width - 1; left < right; ++left, --right) {
      std::swap_ranges(row + left * channels, row + (left + 1) * channels, row + right * channels);
    }
  }
}

// Operations that blend an image with a plainer one: plain + factor · (image − plain), cut off towards zero.

namespace {

uint8_t blended(uint8_t plain, uint8_t value, float factor) {
  const float mixed = static_cast<float>(plain) + factor * static_cast<float>(static_cast<int>(value) - plain);
  return static_cast<uint8_t>(std::clamp(mixed, 0.0f, 255.0f));
}

// From an image of one value: a table does it.
void blend_with(at::Tensor& image, uint8_t plain, float factor) {
  std::array<uint8_t, 256> table;
  for (size_t value = 0; value < 256; ++value) table[value] = blended(plain, static_cast<uint8_t>(value), factor);
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.numel(); ++i) pixels[i] = table[pixels[i]];
}

uint8_t mean_grey(const at::Tensor& image) {
  const auto* pixels = image.const_data_ptr<uint8_t>();
  const int64_t channels = image.size(2), count = image.size(0) * image.size(1);
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i, pixels += channels) {
    sum += channels == 1 ? pixels[0] : io::luma(pixels[0], pixels[1], pixels[2]);
  }
  return static_cast<uint8_t>(static_cast<double>(sum) / static_cast<double>(count) + 0.5);
}

// The mean of a pixel (five times) and its eight neighbours, to the nearest; borders as they are.
at::Tensor smoothed(const at::Tensor& image) {
  at::Tensor out = image.clone();
  const int64_t height = image.size(0), width = image.size(1), channels = image.size(2), row = width * channels;
  const auto* in = image.const_data_ptr<uint8_t>();
  auto* to = out.mutable_data_ptr<uint8_t>();
  for (int64_t y = 1; y + 1 < height; ++y) {
    for (int64_t i = y * row + channels; i < (y + 1) * row - channels; ++i) {
      int sum = 4 * in[i];
      for (const int64_t line : {i - row, i, i + row}) sum += in[line - channels] + in[line] + in[line + channels];
      to[i] = static_cast<uint8_t>((2 * sum + 13) / 26);
    }
  }
  return out;
}

}  // namespace

void adjust_brightness(at::Tensor& image, double factor) { blend_with(image, 0, static_cast<float>(factor)); }

void adjust_contrast(at::Tensor& image, double factor) {
  blend_with(image, mean_grey(image), static_cast<float>(factor));
}

void adjust_saturation(at::Tensor& image, double factor) {
  if (image.size(2) == 1) return;
  auto* pixel = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.size(0) * image.size(1); ++i, pixel += 3) {
    const uint8_t grey = io::luma(pixel[0], pixel[1], pixel[2]);
    for (int c = 0; c < 3; ++c) pixel[c] = blended(grey, pixel[c], static_cast<float>(factor));
  }
}

void adjust_sharpness(at::Tensor& image, double factor) {
  const at::Tensor plain = smoothed(image);
  const auto* from = plain.const_data_ptr<uint8_t>();
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.numel(); ++i) pixels[i] = blended(from[i], pixels[i], static_cast<float>(factor));
}

namespace {

struct Hsv {
  uint8_t hue, saturation, value;
};

// The hexagon of colours (Smith 1978), in 8 bits cut off towards zero. Rounded to float32 where Pillow does, or values
// that should be whole would be cut off a level lower.
Hsv hsv_of(const uint8_t* rgb) {
  const auto [least, most] = std::minmax({rgb[0], rgb[1], rgb[2]});
  if (least == most) return {0, 0, most};
  const auto range = static_cast<float>(most - least);
  const auto below = [&](int c) { return static_cast<float>(most - rgb[c]) / range; };
  double sixths = 0;
  if (rgb[0] == most) {
    sixths = below(2) - below(1);
  } else if (rgb[1] == most) {
    sixths = 2.0 + below(0) - below(2);
  } else {
    sixths = 4.0 + below(1) - below(0);
  }
  const auto turn = static_cast<float>(std::fmod(static_cast<double>(static_cast<float>(sixths)) / 6 + 1, 1.0));
  const auto saturation = range / static_cast<float>(most);
  return {static_cast<uint8_t>(double{turn} * 255), static_cast<uint8_t>(double{saturation} * 255), most};
}

void put_rgb(const Hsv& colour, uint8_t* rgb) {
  const double sixths = colour.hue * 6.0 / 255, saturation = colour.saturation / 255.0;
  const auto sector = static_cast<int>(sixths);
  const double rest = sixths - sector;
  const auto lowered = [&](double by) {
    return static_cast<uint8_t>(std::lround(colour.value * (1 - saturation * by)));
  };
  const uint8_t v = colour.value, p = lowered(1), q = lowered(rest), t = lowered(1 - rest);
  const uint8_t sectors[6][3] = {{v, t, p}, {q, v, p}, {p, v, t}, {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(sectors[sector % 6], 3, rgb);
}

}  // namespace

void adjust_hue(at::Tensor& image, double turn_fraction) {
  if (image.size(2) == 1) return;
  const auto turn = static_cast<uint8_t>(static_cast<int>(turn_fraction * 255));  // negative turns wrap around
  auto* pixel = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.size(0) * image.size(1); ++i, pixel += 3) {
    Hsv colour = hsv_of(pixel);
    colour.hue = static_cast<uint8_t>(colour.hue + turn);
    put_rgb(colour, pixel);
  }
}

// Operations that replace each value by that of a table.

namespace {

using ValueTable = std::array<uint8_t, 256>;
using ValueCounts = std::array<int64_t, 256>;

uint8_t byte_of(int64_t value) { return static_cast<uint8_t>(std::clamp<int64_t>(value, 0, 255)); }

template <class MakeTable>
void look_up_channels(at::Tensor& image, MakeTable&& make_table) {
  const int64_t channels = image.size(2), count = image.numel();
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t c = 0; c < channels; ++c) {
    ValueCounts counts{};
    for (int64_t i = c; i < count; i += channels) ++counts[pixels[i]];
    const ValueTable table = make_table(counts);
    for (int64_t i = c; i < count; i += channels) pixels[i] = table[pixels[i]];
  }
}

template <class ValueOf>
void look_up(at::Tensor& image, ValueOf&& value_of) {
  ValueTable table;
  for (int value = 0; value < 256; ++value) table[static_cast<size_t>(value)] = byte_of(value_of(value));
  auto* pixels = image.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < image.numel(); ++i) pixels[i] = table[pixels[i]];
}

ValueTable stretched(const ValueCounts& counts) {
  const auto is_used = [](int64_t count) { return count > 0; };
  const auto darkest = std::ranges::find_if(counts, is_used) - counts.begin();
  const auto lightest = 255 - (std::find_if(counts.rbegin(), counts.rend(), is_used) - counts.rbegin());
  ValueTable table;
  for (int64_t value = 0; value < 256; ++value) {
    double stretched_value = static_cast<double>(value);
    if (lightest > darkest) {
      const double scale = 255.0 / static_cast<double>(lightest - darkest);
      stretched_value = stretched_value * scale - static_cast<double>(darkest) * scale;
    }
    table[static_cast<size_t>(value)] = byte_of(static_cast<int64_t>(stretched_value));
  }
  return table;
}

ValueTable equalized(const ValueCounts& counts) {
  int64_t total = 0, last = 0, used = 0;
  for (const int64_t count : counts) {
    if (count == 0) continue;
    total += count;
    last = count;
    ++used;
  }
  const int64_t step = used > 1 ? (total - last) / 255 : 0;
  ValueTable table;
  int64_t before = step / 2;
  for (int64_t value = 0; value < 256; ++value) {
    table[static_cast<size_t>(value)] = byte_of(step == 0 ? value : before / step);
    before += counts[static_cast<size_t>(value)];
  }
  return table;
}

}  // namespace

void autocontrast(at::Tensor& image) { look_up_channels(image, stretched); }

void equalize(at::Tensor& image) { look_up_channels(image, equalized); }

void invert(at::Tensor& image) {
  look_up(image, [](int value) { return 255 - value; });
}

void posterize(at::Tensor& image, int bits) {
  const int mask = 256 - (1 << (8 - bits));
  look_up(image, [mask](int value) { return value & mask; });
}

void solarize(at::Tensor& image, int threshold) {
  look_up(image, [threshold](int value) { return value < threshold ? value : 255 - value; });
}

void solarize_add(at::Tensor& image, int amount, int threshold) {
  look_up(image, [=](int value) { return value < threshold ? value + amount : value; });
}

}  // namespace cachet::data
