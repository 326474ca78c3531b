// Operations that replace each value by that of a table.
#include <algorithm>
#include <array>

#include "cachet/data/vision/pixels/pixel_operations.h"

namespace cachet::data {
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
