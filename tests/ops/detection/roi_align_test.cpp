#include "cachet/ops/detection/roi_align.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "tests/support/fused_against_composite.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using ops::RoiAlignOptions;
using test::expect_refused;
using test::Tensors;

/// Boxes on `images` images, of sizes and positions on and around a map of 12 × 16 cells of 4 pixels.
at::Tensor drawn_boxes(int64_t images, int64_t count) {
  const at::Tensor image = at::arange(count, at::kDouble).remainder(images).unsqueeze(1);
  const at::Tensor corner = at::rand({count, 2}, at::kDouble) * 70 - 10, size = at::rand({count, 2}, at::kDouble) * 60;
  return at::cat({image, corner, corner + size}, 1);
}

/// The definition, sample by sample.
double interpolated(const at::Tensor& map, double y, double x) {
  const int64_t height = map.size(0), width = map.size(1);
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width)) return 0;
  y = std::min(std::max(y, 0.0), static_cast<double>(height - 1));
  x = std::min(std::max(x, 0.0), static_cast<double>(width - 1));
  double sum = 0;
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column) {
      const double weight = std::max(0.0, 1 - std::abs(y - static_cast<double>(row))) *
                            std::max(0.0, 1 - std::abs(x - static_cast<double>(column)));
      if (weight > 0) sum += weight * map[row][column].item<double>();
    }
  return sum;
}

double bin_of(const at::Tensor& map, const at::Tensor& box, const RoiAlignOptions& o, int64_t i, int64_t j) {
  const auto at = [&](int64_t side) { return box[side + 1].item<double>() * o.scale - 0.5; };
  const double bin_height = (at(3) - at(1)) / static_cast<double>(o.height);
  const double bin_width = (at(2) - at(0)) / static_cast<double>(o.width);
  const auto rows = o.sampling > 0 ? o.sampling : static_cast<int64_t>(std::ceil(bin_height));
  const auto columns = o.sampling > 0 ? o.sampling : static_cast<int64_t>(std::ceil(bin_width));
  double sum = 0;
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x)
      sum += interpolated(
          map,
          at(1) + (static_cast<double>(i) + (static_cast<double>(y) + 0.5) / static_cast<double>(rows)) * bin_height,
          at(0) + (static_cast<double>(j) + (static_cast<double>(x) + 0.5) / static_cast<double>(columns)) * bin_width);
  return sum / static_cast<double>(std::max<int64_t>(1, rows * columns));
}

TEST(RoiAlign, IsItsDefinitionSampleBySample) {
  const at::Tensor map = at::randn({2, 1, 12, 16}, at::kDouble), boxes = drawn_boxes(2, 6);
  // Boxes whose sides are below 0: of x, of y, of both.
  for (const auto& [box, one, other] : {std::array<int64_t, 3>{1, 1, 3}, {2, 2, 4}, {3, 1, 3}, {3, 2, 4}}) {
    const at::Tensor before = boxes[box][one].clone();
    boxes[box][one].copy_(boxes[box][other]);
    boxes[box][other].copy_(before);
  }
  for (const int64_t sampling : {0, 1, 3}) {
    const RoiAlignOptions o{3, 2, 0.25, sampling};
    const at::Tensor out = ops::roi_align(map, boxes, o);
    for (int64_t k = 0; k < 6; ++k)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t j = 0; j < 2; ++j)
          EXPECT_NEAR(out[k][0][i][j].item<double>(), bin_of(map[boxes[k][0].item<int64_t>()][0], boxes[k], o, i, j),
                      1e-12)
              << "box " << k << ", bin " << i << ' ' << j << ", sampling " << sampling;
  }
}

TEST(RoiAlign, GradientEqualsFiniteDifferences) {
  const at::Tensor boxes = drawn_boxes(2, 5), weight = at::randn({5, 2, 2, 3}, at::kDouble);
  for (const int64_t sampling : {0, 2})
    test::expect_gradients(
        [&](const auto& in) {
          return (ops::roi_align(in[0], boxes, {2, 3, 0.125, sampling}) * weight).sum();
        },
        {at::randn({2, 2, 6, 8})});
}

TEST(RoiAlign, HasAsManyDerivativesAsOneAsksFor) {
  const at::Tensor boxes = drawn_boxes(1, 3);
  test::expect_gradients(
      [&](const auto& in) {
        const at::AutoGradMode differentiable(true);
        const at::Tensor cubes = ops::roi_align(in[0], boxes, {2, 2, 0.125, 0}).pow(3).sum();
        return torch::autograd::grad({cubes}, {in[0]}, {}, {}, /*create_graph=*/true)[0].square().sum();
      },
      {at::randn({1, 2, 6, 8})});
}

TEST(RoiAlign, FusedEqualsComposite) {
  for (const int64_t channels : {1, 70})
    for (const int64_t sampling : {0, 2})
      for (const int64_t count : {0, 20}) {
        at::Tensor boxes = drawn_boxes(2, count);
        if (count > 2) {  // ends before starts, of both axes and of one
          boxes[1] = boxes[1].index_select(0, at::tensor({0, 3, 4, 1, 2}));
          boxes[2] = boxes[2].index_select(0, at::tensor({0, 1, 4, 3, 2}));
        }
        test::expect_fused_equals_composite(
            [&](const Tensors& in) -> Tensors {
              return {ops::roi_align(in[0], boxes, {7, 5, 0.25, sampling})};
            },
            {at::randn({2, channels, 12, 16})},
            std::to_string(channels) + " channels, sampling " + std::to_string(sampling));
      }
}

TEST(RoiAlign, GivesTheSameBitsForAnyNumberOfThreads) {
  const at::Tensor map = at::randn({2, 70, 12, 16}), boxes = drawn_boxes(2, 60);
  const auto run = [&](int threads) {
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    Tensors all = test::outputs_and_gradients(
        [&](const Tensors& in) -> Tensors {
          return {ops::roi_align(in[0], boxes, {7, 7, 0.25, 0})};
        },
        {map});
    at::set_num_threads(before);
    return all;
  };
  const Tensors one = run(1), three = run(3);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(at::equal(one[i], three[i])) << i;
}

TEST(RoiAlign, TakesStridedMapsAndGivesChannelsLast) {
  const at::Tensor map = at::randn({2, 16, 12, 5}).transpose(1, 3), boxes = drawn_boxes(2, 4);
  const at::Tensor out = ops::roi_align(map, boxes, {3, 3, 0.25, 0});
  EXPECT_TRUE(at::equal(out, ops::roi_align(map.contiguous(), boxes, {3, 3, 0.25, 0})));
  EXPECT_TRUE(out.is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST(RoiAlign, BoxesThatReadNothingGiveZeros) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kFar = std::numeric_limits<double>::infinity();
  const at::Tensor boxes = at::tensor(std::vector<double>{0.0, 4,     4,     4,     4,    // no area
                                                          0,   8,     8,     4,     4,    // turned around
                                                          0,   kNone, 0,     8,     8,    // no numbers
                                                          0,   0,     0,     kFar,  8,    //
                                                          0,   900,   900,   990,   990,  // outside
                                                          0,   -1e30, -1e30, -1e29, 1e30})
                               .view({-1, 5});
  for (const auto type : {at::kFloat, at::kDouble}) {
    const at::Tensor map = at::ones({1, 3, 12, 16}, type);
    for (const int64_t sampling : {0, 2}) {
      const at::Tensor out = ops::roi_align(map, boxes, {7, 7, 0.25, sampling});
      // With samples of a fixed number a box without a side reads the position where it is, and one that is turned
      // around reads its positions in reverse.
      const double expected = sampling > 0 ? 1 : 0;
      EXPECT_LT((out.narrow(0, 0, 2) - expected).abs().max().item<double>(), 1e-6) << type << ' ' << sampling;
      EXPECT_TRUE((out.narrow(0, 2, 4) == 0).all().item<bool>()) << type << ' ' << sampling;
    }
  }
}

TEST(RoiAlign, TakesTimeForTheMapNotForTheBox) {
  // 10⁹ cells a side: a sample each would take minutes.
  const at::Tensor box = at::tensor(std::vector<double>{0.0, -2e9, -2e9, 2e9, 2e9}).view({1, 5});
  for (const auto type : {at::kFloat, at::kDouble})
    EXPECT_TRUE(ops::roi_align(at::ones({1, 1, 4, 4}, type), box, {2, 2, 0.25, 0}).isfinite().all().item<bool>());
}

TEST(RoiAlign, FollowsAutocast) {
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  const at::Tensor out = ops::roi_align(at::randn({2, 3, 4, 4}), drawn_boxes(2, 3), {2, 2, 0.25, 0});
  at::autocast::set_autocast_enabled(at::kCPU, false);
  at::autocast::clear_cache();
  EXPECT_EQ(out.scalar_type(), at::kBFloat16);
}

TEST(RoiAlign, ServesTheMetaDevice) {
  const at::Tensor map = at::empty({2, 3, 4, 5}, at::kMeta).requires_grad_();
  const at::Tensor out = ops::roi_align(map, at::empty({7, 5}, at::kMeta), {2, 3, 0.25, 0});
  EXPECT_EQ(out.sizes(), at::IntArrayRef({7, 3, 2, 3}));
  EXPECT_EQ(torch::autograd::grad({out.sum()}, {map})[0].sizes(), map.sizes());
}

TEST(RoiAlign, NamesWhatItRefuses) {
  const at::Tensor map = at::randn({2, 3, 4, 5}), boxes = drawn_boxes(2, 3);
  const auto align = [](const at::Tensor& m, const at::Tensor& b, const RoiAlignOptions& o = {}) {
    return [=] { ops::roi_align(m, b, o); };
  };
  expect_refused(align(map[0], boxes), "roi_align: map must be floating (N, C, H, W)");
  expect_refused(align(map.to(at::kLong), boxes), "got Long [2, 3, 4, 5]");
  expect_refused(align(at::randn({2, 3, 0, 5}), boxes), "H and W at least 1");
  expect_refused(align(map, boxes.narrow(1, 1, 4)), "boxes must be float32 or float64 (K, 5)");
  expect_refused(align(map, boxes.to(at::kBFloat16)), "got BFloat16 [3, 5]");
  expect_refused(align(map, boxes.to(at::kMeta)), "boxes is on meta");
  expect_refused(align(map, boxes, {0, 7}), "height and width must be 1 to 1024, got 0 x 7");
  expect_refused(align(map, boxes, {7, 7, 0.0}), "scale must be above 0");
  expect_refused(align(map, boxes, {7, 7, 1.0, -1}), "sampling must be 0 to 1024, got -1");
  for (const auto type : {at::kFloat, at::kDouble}) {
    expect_refused(align(map.to(type), drawn_boxes(3, 3)),
                   "the image of boxes[2] must be an integer from 0 to 1, got 2");
    expect_refused(align(map.to(type), boxes - 0.5), "the image of boxes[0] must be an integer from 0 to 1, got -0.5");
  }
}

}  // namespace
}  // namespace cachet
