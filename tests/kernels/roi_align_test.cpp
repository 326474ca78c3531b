#include "cachet/kernels/roi_align.h"

#include "tests/kernels/kernel_sweep.h"

namespace cachet {
namespace {

using test::expect_near;
using test::Guarded;
using test::sweep;

// Bins that overlap, leave cells out between them, and read nothing.
constexpr int64_t kRowFirst[] = {0, 1, 0, 3}, kRowOffset[] = {0, 2, 5, 5, 6};
constexpr float kRowWeights[] = {0.5f, 0.25f, 0.125f, 0.75f, 0.5f, 1.0f};
constexpr int64_t kColumnFirst[] = {1, 0, 2}, kColumnOffset[] = {0, 3, 4, 6};
constexpr float kColumnWeights[] = {0.3f, 0.6f, 0.1f, 0.9f, 0.2f, 0.7f};
constexpr kernels::RoiAxis kBoxRows{4, kRowFirst, kRowOffset, kRowWeights};
constexpr kernels::RoiAxis kBoxColumns{3, kColumnFirst, kColumnOffset, kColumnWeights};
constexpr int64_t kMapHeight = 4, kMapWidth = 5, kBins = 12;

double read_weight(const kernels::RoiAxis& axis, int64_t bin, int64_t cell) {
  const int64_t at = cell - axis.first[bin];
  return at >= 0 && at < axis.offset[bin + 1] - axis.offset[bin] ? axis.weights[axis.offset[bin] + at] : 0.0;
}

TEST(RoiAlignKernelRobustness, EqualsItsDefinitionForwardAndBackward) {
  sweep([]<class T>(T*, int64_t channels, int64_t offset, std::mt19937& random, const std::string& label) {
    // Of wider cells only some channels are looked at.
    const int64_t cell = channels + 3, cells = kMapHeight * kMapWidth;
    const Guarded<T> map(cells * cell, offset, random), grad(kBins * cell, offset, random);
    const auto of_bin = [&](int64_t bin, int64_t c, bool absolute) {
      double sum = 0;
      for (int64_t y = 0; y < kMapHeight; ++y)
        for (int64_t x = 0; x < kMapWidth; ++x) {
          const double term = read_weight(kBoxRows, bin / 3, y) * read_weight(kBoxColumns, bin % 3, x) *
                              map[(y * kMapWidth + x) * cell + c];
          sum += absolute ? std::abs(term) : term;
        }
      return sum;
    };
    const auto of_cell = [&](int64_t place, int64_t c, bool absolute) {
      double sum = 1;
      for (int64_t bin = 0; bin < kBins; ++bin) {
        const double term = read_weight(kBoxRows, bin / 3, place / kMapWidth) *
                            read_weight(kBoxColumns, bin % 3, place % kMapWidth) * grad[bin * cell + c];
        sum += absolute ? std::abs(term) : term;
      }
      return sum;
    };
    Guarded<T> out(kBins * cell, offset);
    Guarded<float> sums(kBins * channels, offset), d_map(cells * cell, offset);
    for (int64_t i = 0; i < d_map.size(); ++i) d_map.data()[i] = 1.0f;
    const kernels::RoiMap shape{kMapWidth, cell, channels};
    kernels::roi_align(map.data(), shape, kBoxRows, kBoxColumns, out.data(), cell, sums.data());
    kernels::roi_align_backward(grad.data(), cell, kBoxRows, kBoxColumns, d_map.data(), shape);
    ASSERT_TRUE(sums.untouched_around()) << label;
    // Products of three numbers, of nine cells a bin; of as many bins a cell.
    const auto or_rest = [&](const auto& of, double rest) {
      return [=](int64_t i) { return i % cell < channels ? of(i / cell, i % cell) : rest; };
    };
    expect_near<T>(out, or_rest([&](int64_t i, int64_t c) { return of_bin(i, c, false); }, 0.0),
                   or_rest([&](int64_t i, int64_t c) { return of_bin(i, c, true); }, 0.0), 3 * 9, label);
    expect_near<float>(d_map, or_rest([&](int64_t i, int64_t c) { return of_cell(i, c, false); }, 1.0),
                       or_rest([&](int64_t i, int64_t c) { return of_cell(i, c, true); }, 1.0), 3 * kBins, label);
  });
}

}  // namespace
}  // namespace cachet
