#include "cachet/analysis/plug_ins/cache_drift.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cachet/nn/cache/fifo_cache.h"

namespace cachet::analysis {
namespace {

class OneCache : public torch::nn::Module {
 public:
  OneCache() {
    nn::FifoCacheOptions options;
    options.ratio = 1.0;
    cache = register_module("cache", std::make_shared<nn::FifoCache>(options, 2, 2));
  }
  void hold(const std::vector<double>& values) {
    const at::NoGradGuard no_grad;
    cache->tokens.copy_(at::tensor(values).view({1, 2, 2}));
  }
  std::shared_ptr<nn::FifoCache> cache;
};

TEST(CachePlaces, SizeIsTheRootMeanSquare) {
  OneCache model;
  EXPECT_EQ(size_of(stored_caches(model).at(0)).item<double>(), 0);
  model.hold({3, 0, 0, 4});
  EXPECT_EQ(size_of(stored_caches(model).at(0)).item<double>(), 2.5);
}

TEST(CacheDrift, StepsRelativeToWhatTheCacheHolds) {
  OneCache model;
  CacheDrift drift(model);
  model.hold({3, 0, 0, 4});
  drift.step();
  model.hold({3, 0, 0, 4});
  drift.step();
  model.hold({6, 0, 0, 8});
  drift.step();
  model.hold({0, 0, 0, 0});
  drift.step();
  ASSERT_EQ(drift.layers().size(), 1u);
  EXPECT_EQ(drift.layers()[0].layer, "cache");
  const std::vector<double>& steps = drift.layers()[0].steps;
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_NEAR(steps[0], 1, 1e-12);  // from nothing
  EXPECT_EQ(steps[1], 0);
  EXPECT_NEAR(steps[2], 0.5, 1e-12);
  EXPECT_FALSE(std::isfinite(steps[3]));
}

TEST(CachePlaces, CosinesByHand) {
  // Positions along x, along x again, and along y; then an empty one.
  const at::Tensor similarity =
      similarity_of_places(at::tensor({2.0, 0.0, 1.0, 0.0, 0.0, 3.0}, at::kDouble).view({1, 3, 2}));
  EXPECT_NEAR(similarity[0][1].item<double>(), 1, 1e-12);
  EXPECT_NEAR(similarity[0][2].item<double>(), 0, 1e-12);
  EXPECT_NEAR(mean_similarity(similarity), 1.0 / 3, 1e-12);
  const at::Tensor empty =
      similarity_of_places(at::tensor({2.0, 0.0, 1.0, 0.0, 0.0, 0.0}, at::kDouble).view({1, 3, 2}));
  EXPECT_TRUE(std::isnan(empty[0][2].item<double>()));
  EXPECT_NEAR(mean_similarity(empty), 1, 1e-12);
  EXPECT_THROW(similarity_of_places(at::tensor({1.0, 2.0})), c10::Error);
}

}  // namespace
}  // namespace cachet::analysis
