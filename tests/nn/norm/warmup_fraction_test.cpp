#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {
namespace {

/// UN, MABN and PN with a warm-up of 10 % of a run.
std::vector<NormOptions> norms_with_fraction() {
  return {UnifiedNormOptions{.warmup_percent = 10}, MovingAverageBatchNormOptions{.window = 2, .warmup_percent = 10},
          PowerNormOptions{.warmup_percent = 10}};
}

NormOptions with_count(NormOptions options, int64_t count) {
  std::visit(
      [&]<class Options>(Options& o) {
        if constexpr (requires { o.warmup_percent; }) o.warmup_percent = 0;
        if constexpr (requires { o.settings.warmup; }) o.settings.warmup = count;
        if constexpr (requires { o.warmup; }) o.warmup = count;
      },
      options);
  return options;
}

TEST(WarmupFraction, HasToBeSettledBeforeTraining) {
  for (const NormOptions& options : norms_with_fraction()) {
    const auto norm = make_norm(options, 4);
    norm->eval();
    EXPECT_NO_THROW(norm->forward(at::rand({2, 3, 4})));
    norm->train();
    try {
      norm->forward(at::rand({2, 3, 4}));
      FAIL() << chosen_norm(options).kind;
    } catch (const std::logic_error& error) {
      EXPECT_STREQ(error.what(),
                   "norm.warmup is 10 % of the updates of a run, but no run has begun; call settle_warmup() with the "
                   "number of updates, or set the warm-up as a count");
    }
  }
}

TEST(WarmupFraction, IsThenTheSameAsTheCount) {
  for (const NormOptions& options : norms_with_fraction()) {
    const std::string kind = chosen_norm(options).kind;
    const auto norm = make_norm(options, 4), other = make_norm(with_count(options, 2), 4),
               longer = make_norm(with_count(options, 8), 4);
    EXPECT_EQ(other->settle_warmup(100), std::nullopt) << kind << " has a count";
    EXPECT_EQ(norm->settle_warmup(25), 2) << kind;
    EXPECT_EQ(norm->settle_warmup(1000), std::nullopt) << kind << ": once";
    bool longer_differs = false;
    for (int step = 0; step < 8; ++step) {
      const at::Tensor x = at::rand({2, 3, 4}) * (step + 1);
      const at::Tensor y = norm->forward(x);
      EXPECT_TRUE(y.equal(other->forward(x))) << kind << ", step " << step;
      longer_differs |= !y.equal(longer->forward(x));
    }
    EXPECT_TRUE(longer_differs) << kind << " reads the count";
  }
}

TEST(WarmupFraction, IsSettledForAllNormsOfAModel) {
  const auto model = std::make_shared<torch::nn::Module>();
  model->register_module("layer", make_norm(LayerNormOptions{}, 4));
  EXPECT_EQ(settle_warmups(*model, 100), std::nullopt);
  model->register_module("first", make_norm(UnifiedNormOptions{.warmup_percent = 10}, 4));
  model->register_module("second", make_norm(PowerNormOptions{.warmup_percent = 20}, 4));
  EXPECT_EQ(settle_warmups(*model, 100), 20) << "the largest";
  EXPECT_EQ(settle_warmups(*model, 100), std::nullopt);
}

}  // namespace
}  // namespace cachet::nn
