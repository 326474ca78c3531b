#include "cachet/baselines/logistic_regression.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include "cachet/data/random.h"

namespace cachet::baselines {
namespace {

/// Noise in four classes, by which column of every four is brighter.
data::LabelledImages brighter_columns(int64_t count) {
  data::CounterRandom random(11, data::RandomStream::subset, 0, static_cast<uint64_t>(count));
  at::Tensor images = at::empty({count, 1, 8, 8}, at::kByte);
  auto pixels = images.accessor<uint8_t, 4>();
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    labels.push_back(i % 4);
    for (int64_t y = 0; y < 8; ++y)
      for (int64_t x = 0; x < 8; ++x)
        pixels[i][0][y][x] = static_cast<uint8_t>(random.below(100) + (x % 4 == i % 4 ? 120 : 0));
  }
  return {std::make_shared<data::StoredImages>(images), data::ClassLabels(std::move(labels), {"0", "1", "2", "3"})};
}

TEST(LogisticRegression, LearnsWhichColumnsAreBrighter) {
  const data::LabelledImages training = brighter_columns(96), test = brighter_columns(33);
  const data::Normalization normalization{{0.5}, {0.3}};
  const LogisticRegression first = logistic_regression(training, test, normalization);
  EXPECT_GT(first.top1, 0.9);
  EXPECT_EQ(first.parameters, 4 * 64 + 4);
  EXPECT_EQ(first.macs, 4 * 64);
  EXPECT_EQ(first.top1, logistic_regression(training, test, normalization).top1) << "nothing in it is random";
}

}  // namespace
}  // namespace cachet::baselines
