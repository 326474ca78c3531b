#include "cachet/ops/detection/nms.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <limits>

#include "cachet/ops/support/fused.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using test::expect_refused;

std::vector<int64_t> kept_of(const at::Tensor& boxes, const at::Tensor& scores, double threshold,
                             const std::optional<at::Tensor>& groups = {}) {
  const at::Tensor indices = ops::nms_indices(boxes, scores, groups, threshold);
  return {indices.const_data_ptr<int64_t>(), indices.const_data_ptr<int64_t>() + indices.numel()};
}

at::Tensor drawn_squares(int64_t count, at::ScalarType type) {
  const at::Tensor corner = at::randint(40, {count, 2}).to(type);
  return at::cat({corner, corner + at::randint(1, 9, {count, 2}).to(type)}, 1);
}

TEST(Nms, RemovesWhatOverlapsByMoreThanTheThreshold) {
  const at::Tensor boxes = at::tensor(std::vector<double>{0.0, 0, 3, 1, 1, 0, 4, 1, 10, 10, 12, 12}).view({3, 4});
  for (const auto type : {at::kFloat, at::kDouble, at::kBFloat16}) {
    const at::Tensor scores = at::tensor(std::vector<double>{0.5, 0.9, 0.7}).to(type);
    // The first two share exactly one half.
    EXPECT_EQ(kept_of(boxes.to(type), scores, 0.5), (std::vector<int64_t>{1, 2, 0})) << type;
    EXPECT_EQ(kept_of(boxes.to(type), scores, 0.4), (std::vector<int64_t>{1, 2})) << type;
    EXPECT_EQ(kept_of(boxes.to(type), scores, 0.4, at::tensor(std::vector<int64_t>{0, 1, 0}, at::kLong)),
              (std::vector<int64_t>{1, 2, 0}));
  }
}

TEST(Nms, WhatIsRemovedRemovesNothing) {
  // A chain: each overlaps its neighbours alone.
  const at::Tensor boxes = at::tensor(std::vector<double>{0.0, 0, 4, 1, 2, 0, 6, 1, 4, 0, 8, 1}).view({3, 4});
  EXPECT_EQ(kept_of(boxes, at::tensor(std::vector<double>{0.9, 0.8, 0.7}), 0.3), (std::vector<int64_t>{0, 2}));
}

TEST(Nms, EqualScoresKeepTheirOrder) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const at::Tensor boxes = at::zeros({200, 4}, type), far = at::arange(200).to(type).unsqueeze(1) * 10;
    const at::Tensor apart = boxes + far + at::tensor(std::vector<double>{0.0, 0, 5, 5}).to(type);
    std::vector<int64_t> all(200);
    for (int64_t i = 0; i < 200; ++i) all[static_cast<size_t>(i)] = i;
    EXPECT_EQ(kept_of(apart, at::ones({200}, type), 0.5), all) << type;
  }
}

TEST(Nms, FusedDecidesAsTheCompositionDoes) {
  for (const int64_t count : {0, 1, 2, 300, 1500})
    for (const double threshold : {0.0, 0.25, 0.5, 0.7})
      for (const int64_t groups : {1, 5}) {
        const at::Tensor boxes = drawn_squares(count, at::kFloat), scores = at::randint(50, {count}).to(at::kFloat);
        const at::Tensor group = at::randint(groups, {count}, at::kLong);
        const auto [order, keep] = ops::nms(boxes, scores, group, threshold);
        const ops::CompositeOnly composite;
        const auto [expected_order, expected_keep] = ops::nms(boxes, scores, group, threshold);
        EXPECT_TRUE(at::equal(order, expected_order));
        EXPECT_TRUE(at::equal(keep, expected_keep)) << count << " boxes, threshold " << threshold;
        if (groups > 1) continue;
        const auto [order_alone, keep_alone] = ops::nms(boxes, scores, {}, threshold);
        EXPECT_TRUE(at::equal(keep_alone, keep) && at::equal(order_alone, order));
      }
}

TEST(Nms, IsTheSameForAnyNumberOfThreads) {
  const at::Tensor boxes = drawn_squares(2000, at::kFloat), scores = at::rand({2000});
  const at::Tensor group = at::randint(20, {2000}, at::kLong);
  const int threads = at::get_num_threads();
  const auto here = kept_of(boxes, scores, 0.3, group);
  at::set_num_threads(3);
  EXPECT_EQ(kept_of(boxes, scores, 0.3, group), here);
  at::set_num_threads(threads);
}

TEST(Nms, BoxesWithoutAreaOrNumbersOverlapNothing) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor boxes =
      at::tensor(std::vector<double>{1.0, 1, 1, 1, 1, 1, 1, 1, none, 0, 4, 4, 0, 0, 4, 4}).view({4, 4});
  for (const auto type : {at::kFloat, at::kDouble})
    EXPECT_EQ(kept_of(boxes.to(type), at::tensor(std::vector<double>{4.0, 3.0, 2.0, 1.0}).to(type), 0.1),
              (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Nms, SizesAreThoseOfTheBoxes) {
  const auto [order, keep] = ops::nms(at::empty({7, 4}, at::kMeta), at::empty({7}, at::kMeta),
                                      at::empty({7}, at::TensorOptions(at::kMeta).dtype(at::kLong)), 0.5);
  EXPECT_EQ(order.sizes(), at::IntArrayRef({7}));
  EXPECT_EQ(keep.scalar_type(), at::kBool);
}

TEST(Nms, NamesWhatItRefuses) {
  const at::Tensor boxes = at::rand({3, 4}), scores = at::rand({3});
  const auto run = [](const at::Tensor& b, const at::Tensor& s, const std::optional<at::Tensor>& g = {}) {
    return [=] { ops::nms(b, s, g, 0.5); };
  };
  expect_refused(run(at::rand({3, 5}), scores), "nms: boxes must be floating (n, 4)");
  expect_refused(run(boxes.to(at::kLong), scores), "got Long [3, 4]");
  expect_refused(run(boxes, at::rand({2})), "scores must be (n) = (3), got [2]");
  expect_refused(run(boxes, scores.to(at::kLong)), "scores must be floating, got Long");
  expect_refused(run(boxes, scores, at::zeros({3})), "groups must be int64, got Float");
  expect_refused(run(boxes, scores, at::zeros({2}, at::kLong)), "groups must be (n) = (3), got [2]");
  expect_refused(run(boxes, scores.to(at::kMeta)), "scores is on meta");
}

}  // namespace
}  // namespace cachet
