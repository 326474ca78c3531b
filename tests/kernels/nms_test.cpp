#include "cachet/kernels/nms.h"

#include <algorithm>

#include "tests/kernels/kernel_sweep.h"
#include "tests/kernels/scalar/nms.h"

namespace cachet {
namespace {

using test::Guarded;

/// Boxes of whole numbers, so that many overlap by exactly the same fraction, which may be the threshold.
struct SmallBoxes {
  SmallBoxes(int64_t count, int64_t offset, std::mt19937& random)
      : x0(count, offset), y0(count, offset), x1(count, offset), y1(count, offset) {
    for (int64_t i = 0; i < count; ++i) {
      x0.data()[i] = static_cast<float>(random() % 12);
      y0.data()[i] = static_cast<float>(random() % 12);
      x1.data()[i] = x0[i] + static_cast<float>(random() % 5);
      y1.data()[i] = y0[i] + static_cast<float>(random() % 5);
    }
    if (count > 3) x1.data()[count / 2] = std::numeric_limits<float>::quiet_NaN();
  }
  kernels::BoxColumns columns() const { return {x0.data(), y0.data(), x1.data(), y1.data(), x0.size()}; }
  Guarded<float> x0, y0, x1, y1;
};

/// The definition in float64. Coordinates are small whole numbers, so that a quotient is a threshold or far from it,
/// and rounding decides nothing.
std::vector<uint8_t> kept_by_definition(const kernels::BoxColumns& b, double threshold) {
  std::vector<uint8_t> kept;
  const auto length = [](double from, double to) { return to - from; };
  const auto area = [&](int64_t i) { return length(b.x0[i], b.x1[i]) * length(b.y0[i], b.y1[i]); };
  const auto common = [&](const float* from, const float* to, int64_t i, int64_t k) {
    return std::max(0.0, length(std::max(from[i], from[k]), std::min(to[i], to[k])));
  };
  for (int64_t i = 0; i < b.count; ++i) {
    bool keeps = true;
    for (int64_t k = 0; k < i; ++k) {
      if (kept[static_cast<size_t>(k)] == 0) continue;
      const double shared = common(b.x0, b.x1, i, k) * common(b.y0, b.y1, i, k), joined = area(i) + area(k) - shared;
      keeps = keeps && !(shared / joined > threshold);
    }
    kept.push_back(keeps);
  }
  return kept;
}

TEST(NmsKernelRobustness, DecidesAsItsDefinitionDoesWhateverTheInstructionSet) {
  std::mt19937 random(20261124);
  int64_t removed = 0;
  test::for_each_instruction_set([&](const std::string& set) {
    for (int64_t count = 0; count <= 200; count += count < 70 ? 1 : 13)
      for (const float threshold : {-1.0f, 0.0f, 0.25f, 0.5f, 1.0f}) {
        const SmallBoxes boxes(count, count % 3, random);
        const std::vector<uint8_t> expected = kept_by_definition(boxes.columns(), threshold);
        std::vector<uint8_t> actual(static_cast<size_t>(count), 7), scalar = actual;
        Guarded<float> space(kernels::nms_space(count), count % 5);
        kernels::nms(boxes.columns(), threshold, actual.data(), space.data());
        kernels::scalar::nms(boxes.columns(), threshold, scalar.data(), nullptr);
        ASSERT_EQ(actual, expected) << set << ", " << count << " boxes, threshold " << threshold;
        ASSERT_EQ(scalar, expected) << "scalar, " << count << " boxes, threshold " << threshold;
        ASSERT_TRUE(space.untouched_around()) << set;
        removed += std::count(actual.begin(), actual.end(), 0);
      }
  });
  EXPECT_GT(removed, 0);
}

TEST(NmsKernel, KeepsABoxAtTheThresholdAndRemovesOneAboveIt) {
  // 2 of 4 cells are shared: an intersection over union of exactly 1/2.
  const std::vector<float> x0{0, 1, 0}, y0{0, 0, 0}, x1{3, 4, 3}, y1{1, 1, 1};
  std::vector<uint8_t> kept(3);
  std::vector<float> space(static_cast<size_t>(kernels::nms_space(3)));
  const kernels::BoxColumns boxes{x0.data(), y0.data(), x1.data(), y1.data(), 3};
  kernels::nms(boxes, 0.5f, kept.data(), space.data());
  EXPECT_EQ(kept, (std::vector<uint8_t>{1, 1, 0}));
  kernels::nms(boxes, 0.49f, kept.data(), space.data());
  EXPECT_EQ(kept, (std::vector<uint8_t>{1, 0, 0}));
}

}  // namespace
}  // namespace cachet
