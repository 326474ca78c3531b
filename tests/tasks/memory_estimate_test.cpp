#include "cachet/tasks/memory_estimate.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/tasks/recipe.h"
#include "tests/support/thrown_message.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;

RecipePlan tiny(const Settings& settings) {
  config::Document document = test::tiny_document("nowhere", settings);
  return read_recipe(document, data::DataRoot::optional);
}

std::string choice(const RecipePlan& plan, int64_t most_samples) {
  const auto found = batches_that_fit(plan, most_samples);
  return found ? std::to_string(found->size) + " x " + std::to_string(found->accumulate) : "none";
}

TEST(MemoryEstimate, BatchesThatFitKeepTheSamplesOfAStep) {
  const RecipePlan plan = tiny({"train.batch_size=12", "train.accumulate=5"});
  EXPECT_EQ(choice(plan, 1000), "60 x 1");
  EXPECT_EQ(choice(plan, 60), "60 x 1");
  EXPECT_EQ(choice(plan, 59), "30 x 2");
  EXPECT_EQ(choice(plan, 29), "20 x 3");
  EXPECT_EQ(choice(plan, 1), "1 x 60");
  EXPECT_EQ(choice(plan, 0), "none");
  EXPECT_EQ(choice(tiny({"train.batch_size=7"}), 6), "1 x 7");
}

TEST(MemoryEstimate, GrowsWithTheBatchAndFindsTheLargest) {
  constexpr int64_t kMuch = int64_t{1} << 40;
  const auto curve = StepMemoryCurve::measure(tiny({"train.batch_size=64"}), kMuch, MemoryTrial::precise);
  ASSERT_TRUE(curve);
  const MemoryEstimate one = curve->at(1), some = curve->at(64), many = curve->at(6400);
  EXPECT_EQ(one.parameters, many.parameters);
  EXPECT_GT(one.parameters, 0);
  EXPECT_GT(one.gradients, 0);
  EXPECT_LE(one.gradients, one.parameters) << "states have none";
  EXPECT_GE(one.optimizer, 2 * one.gradients) << "two moments";
  EXPECT_LT(some.activations, many.activations);
  EXPECT_NEAR(static_cast<double>(many.activations) / static_cast<double>(some.activations), 100, 30);
  for (const int64_t samples : {64, 1000, 123'456}) {
    const int64_t bytes = curve->at(samples).total();
    EXPECT_EQ(curve->most_samples(bytes), samples);
    EXPECT_EQ(curve->most_samples(bytes - 1), samples - 1);
  }
  EXPECT_EQ(curve->most_samples(one.parameters), 0);
}

TEST(MemoryEstimate, CountsCopiesOfStatesForParts) {
  constexpr int64_t kMuch = int64_t{1} << 40;
  const auto states = [&](const char* rule) {
    const auto curve = StepMemoryCurve::measure(
        tiny({"model.cache.kind=grc", "train.batch_size=2", "train.accumulate=3", std::string("train.state=") + rule}),
        kMuch, MemoryTrial::quick);
    return curve ? curve->at(2).states : -1;
  };
  EXPECT_EQ(states("shared"), 0);
  EXPECT_GT(states("first"), 0);
  EXPECT_EQ(2 * states("separate"), 3 * states("first")) << "three copies, and two";
}

TEST(MemoryEstimate, ARefusalNamesTheLargestBatchAndWhatKeepsTheStep) {
  MemoryVerdict verdict{.estimate = {.samples = 12, .activations = int64_t{3} << 30},
                        .free = int64_t{1} << 30,
                        .fits = false,
                        .most_samples = 5};
  const Settings plain{"model.cache.kind=none", "model.norm.kind=layer", "train.batch_size=12"};
  EXPECT_EQ(
      refusal_text(tiny(plain), verdict),
      "a step takes about 3.0 GiB of memory, but only 1.0 GiB are free; train.batch_size = 5 is the largest batch that "
      "fits\ntrain.batch_size = 4, train.accumulate = 3 and train.state = \"first\" give each step the same gradient "
      "as "
      "the recipe (--batch-size auto sets these keys)");
  const Settings split{"train.batch_size=4", "train.accumulate=3", "train.state=\"first\""};
  EXPECT_EQ(settings_that_fit(tiny(plain), verdict), split);
  MemoryVerdict fits = verdict;
  fits.fits = true;
  EXPECT_EQ(settings_that_fit(tiny(plain), fits), Settings());
  Settings separate = plain;
  separate.push_back("train.state=separate");
  EXPECT_EQ(settings_that_fit(tiny(separate), verdict), (Settings{"train.batch_size=4", "train.accumulate=3"}));
  for (const char* state : {"model.cache.kind=grc", "model.norm.kind=un", "model.norm.kind=batch"}) {
    Settings with_state = plain;
    with_state.push_back(state);
    EXPECT_TRUE(refusal_text(tiny(with_state), verdict)
                    .ends_with("train.state = \"first\" give each step the same samples as the recipe, and update the "
                               "states of norms and caches once per step (--batch-size auto sets these keys)"))
        << state;
    EXPECT_EQ(settings_that_fit(tiny(with_state), verdict), split);
    EXPECT_EQ(settings_that_fit(tiny(with_state), fits), Settings()) << "another batch is another model";
  }
  verdict.most_samples = 0;
  const std::string none = refusal_text(tiny(plain), verdict);
  EXPECT_TRUE(none.ends_with("too little for one sample; make the model or its samples smaller")) << none;
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { settings_that_fit(tiny(plain), verdict); }), none);
}

}  // namespace
}  // namespace cachet::tasks
