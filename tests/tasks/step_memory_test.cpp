#include "cachet/tasks/step_memory.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/nn/cache/cache_options.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "tests/support/checkpoints.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

models::ModelPlan tiny_model(const std::vector<std::string>& settings) {
  config::Document document = test::tiny_document("images", settings);
  return read_recipe(document).model();
}

std::string length(int64_t slots) { return "model.cache.length=" + std::to_string(slots); }

TEST(StepMemory, ACacheOfANewRunHasABoundThatNamesItsKey) {
  EXPECT_NO_THROW(require_memory_of_new_run(tiny_model({length(nn::kMaxCacheLength)})));
  const models::ModelPlan longer = tiny_model({length(nn::kMaxCacheLength + 1)});
  const std::string said = test::thrown_message<std::runtime_error>([&] { require_memory_of_new_run(longer); });
  EXPECT_TRUE(said.starts_with("model.cache.length: must be at most 131072 in a new run, got 131073")) << said;
  EXPECT_NO_THROW(require_memory(longer));
}

TEST(StepMemory, WhatDoesNotFitIsRefused) {
  const auto refusal = [](const std::vector<std::string>& settings) {
    const models::ModelPlan plan = tiny_model(settings);
    return test::thrown_message<std::runtime_error>([&] { require_memory(plan); });
  };
  const std::string of_weights = refusal({"model.embed_dim=65536", "model.depth=10"});
  EXPECT_TRUE(of_weights.starts_with("the weights of the model and their gradients take ")) << of_weights;
  EXPECT_TRUE(of_weights.ends_with("make the model smaller")) << of_weights;
  const std::string of_caches = refusal({length(1'000'000), "model.embed_dim=1024", "model.depth=100"});
  EXPECT_TRUE(of_caches.starts_with("model.cache.length: ")) << of_caches;
  EXPECT_TRUE(of_caches.ends_with("make the caches shorter")) << of_caches;
}

// Version 0.1.0 trained with up to 1,000,000 slots.
TEST(StepMemory, ARunWithALongerCacheIsOpenedAndResumed) {
  const test::TemporaryDirectory folder;
  test::write_tiny_images(folder / "images");
  const std::vector<std::string> long_cache{length(70'000), "model.depth=1"};
  const auto trained_to = [&](const char* limit) {
    std::vector<std::string> settings = long_cache;
    settings.push_back(std::string("train.limit=") + limit);
    return test::train_tiny(folder / "images", folder / "run", settings).step;
  };
  EXPECT_EQ(trained_to("1 steps"), 1);
  const SavedRun saved = open_saved_run(folder / "run");
  EXPECT_NO_THROW(require_memory(saved.plan.model()));
  EXPECT_EQ(load(saved)->evaluate([](int64_t, int64_t) {}).find("top1").has_value(), true);
  EXPECT_EQ(trained_to("2 steps"), 2);
}

}  // namespace
}  // namespace cachet::tasks
