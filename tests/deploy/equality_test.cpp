#include "cachet/deploy/equality.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/ops/support/finite.h"
#include "tests/support/refused.h"

namespace cachet::deploy {
namespace {

TEST(Equality, TellsRoundingsFromOtherAnswers) {
  const at::Tensor scores = at::tensor({4.0, 1.0, 2.0, 2.0001}).view({2, 2});
  at::Tensor now = scores.clone();
  now[1][0] += 0.0003;  // less than the margin that counts: 2 · 1e-3
  Equality equality = equality_of(scores, now, {});
  // Of two classes that are about as likely, each has half of the difference of their scores.
  EXPECT_NEAR(equality.difference, 0.0003 / 2, 1e-7);
  EXPECT_NEAR(equality.mean, 0.0003 / 4, 1e-7);
  EXPECT_EQ(equality.samples, 2);
  EXPECT_EQ(equality.clear, 1);
  EXPECT_EQ(equality.other, 1);
  EXPECT_EQ(equality.clear_other, 0);
  EXPECT_TRUE(equality.holds({}));
  EXPECT_TRUE(equality.holds({.changed = 0}));  // one sample
  equality.other = 2;
  EXPECT_FALSE(equality.holds({.changed = 0.99}));
  EXPECT_EQ(equality.broken_bounds({1e-4, 0.99}, {"yes or no", "scores"}),
            (std::vector<std::string>{"a log-probability may differ by at most 0.0001",
                                      "yes or no may change for at most 99 % of the scores"}));
  equality.other = 1;
  EXPECT_EQ(to_text(equality),
            "largest difference of a log-probability 0.00015; the best class is the same for 1 of 2 samples");
  EXPECT_EQ(to_text(equality, {"yes or no", "scores"}),
            "largest difference of a log-probability 0.00015; yes or no is the same for 1 of 2 scores");
  now[0][1] = 5;
  equality = equality_of(scores, now, {});
  EXPECT_EQ(equality.clear_other, 1);
  EXPECT_EQ(
      equality.broken_bounds({}),
      (std::vector<std::string>{"a log-probability may differ by at most 0.001",
                                "the best class may not change if its log-probability leads by more than 0.002"}));
  EXPECT_FALSE(equality.holds({}));
  now[0][1] = std::nan("");
  EXPECT_THROW(equality_of(scores, now, {}), ops::NotFinite);
  test::expect_refused([&] { equality_of(scores, now.narrow(1, 0, 1), {}); }, "must have the same shape (N, classes)");
}

/// Scores as a model in bf16 has them.
at::Tensor rounded(const at::Tensor& scores) { return scores.to(at::kBFloat16).to(at::kDouble); }

TEST(Equality, IsNotHiddenByOneScoreNorByAnOffset) {
  at::manual_seed(0);
  const at::Tensor scores = 3 * at::randn({100, 10}, at::kDouble);
  const double expected = equality_of(scores, rounded(scores), {}).difference;
  EXPECT_GT(expected, 1e-3);

  // A class that no sample is of, whose own score is rounded by 40.
  at::Tensor outlying = scores.clone(), now = rounded(scores);
  outlying.select(1, 3).fill_(-1e4);
  now.select(1, 3).fill_(-1e4 - 40);
  at::Tensor without = at::cat({scores.narrow(1, 0, 3), scores.narrow(1, 4, 6)}, 1);
  EXPECT_NEAR(equality_of(outlying, now, {}).difference, equality_of(without, rounded(without), {}).difference, 1e-12);

  // The same number added to all scores of a sample, another one in each model.
  EXPECT_NEAR(equality_of(scores + 1e4, rounded(scores) - 70, {}).difference, expected, 1e-9);
}

TEST(Equality, CountsClassesThatBecomeLikelyAndNoOthers) {
  const at::Tensor scores = at::tensor({0.0, -20.0, -30.0}).view({1, 3});
  at::Tensor now = scores.clone();
  now[0][2] = -21;  // of no interest in both
  EXPECT_NEAR(equality_of(scores, now, {}).difference, 0, 1e-8);
  now[0][2] = -1;  // p = 0.27 now
  EXPECT_NEAR(equality_of(scores, now, {}).difference, std::log(0.26894142) - std::log(kMinLikely), 1e-6);
}

}  // namespace
}  // namespace cachet::deploy
