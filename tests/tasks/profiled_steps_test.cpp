#include "cachet/tasks/profiled_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "tests/support/temporary_directory.h"
#include "tests/tasks/tiny_images.h"

namespace cachet::tasks {
namespace {

using train::KernelFamily;

RecipePlan tiny_plan(const std::vector<std::string>& settings) {
  config::Document document = test::tiny_document("nowhere", settings);
  return read_recipe(document, data::DataRoot::optional);
}

double calls_of(const train::StepProfile& profile, KernelFamily family) {
  const auto found = std::ranges::find(profile.families, family, &train::WorkTime::family);
  return found == profile.families.end() ? 0 : found->calls;
}

void expect_sums(const train::StepProfile& profile) {
  double families = 0;
  for (const train::WorkTime& time : profile.families) families += time.seconds;
  EXPECT_NEAR(families, profile.busy_seconds, 1e-9 * profile.busy_seconds);
  EXPECT_GT(profile.busy_fraction(), 0);
  EXPECT_LE(profile.busy_fraction(), 1);
  EXPECT_GT(profile.seconds_without_profiler.value_or(0), 0);
}

TEST(ProfiledSteps, OfARecipeHaveAllPhasesOfAStep) {
  const test::TemporaryDirectory folder;
  const RecipePlan plan = tiny_plan({"model.cache.kind=grc", "train.batch_size=6", "train.accumulate=2",
                                     "train.clip_norm=1.0", "train.ema_decay=0.9"});
  const train::StepProfile profile = profile_training(plan, {.steps = 3, .trace = folder / "trace.json"});
  expect_sums(profile);
  EXPECT_EQ(profile.steps, 3);
  EXPECT_EQ(profile.samples, 6) << "of one micro-batch";
  for (const KernelFamily family : {KernelFamily::products, KernelFamily::attention, KernelFamily::cache,
                                    KernelFamily::norm, KernelFamily::reductions, KernelFamily::copies})
    EXPECT_GT(calls_of(profile, family), 0) << to_string(family);
  EXPECT_GE(calls_of(profile, KernelFamily::optimizer), 1);
  EXPECT_LE(calls_of(profile, KernelFamily::optimizer), 2) << "one fused update for each group";
  EXPECT_TRUE(std::filesystem::exists(folder / "trace.json"));

  const auto model = plan.model().build();
  int64_t weights = 0, states = 0;
  for (const io::NamedTensor& one : io::distinct_parameters(*model))
    weights += static_cast<int64_t>(one.tensor.nbytes());
  for (const io::NamedTensor& one : io::distinct_buffers(*model)) states += static_cast<int64_t>(one.tensor.nbytes());
  EXPECT_EQ(profile.memory.weights, weights);
  EXPECT_EQ(profile.memory.states, states);
  EXPECT_EQ(profile.memory.gradients, weights);
  EXPECT_GE(profile.memory.optimizer, 3 * weights) << "two moments and the average";
  EXPECT_GT(profile.memory.activations, 0);
}

TEST(ProfiledSteps, MoreSamplesNeedMoreActivations) {
  const RecipePlan plan = tiny_plan({"train.batch_size=4"});
  const train::StepProfile small = profile_training(plan, {.steps = 1}),
                           large = profile_training(plan, {.steps = 1, .samples = 32});
  EXPECT_EQ(large.samples, 32);
  EXPECT_EQ(large.memory.weights, small.memory.weights);
  EXPECT_GT(large.memory.activations, 4 * small.memory.activations);
}

TEST(ProfiledSteps, OfAModelAlone) {
  const auto model = tiny_plan({}).model().build();
  const train::StepProfile inference =
      profile_trial(*model, {.mode = analysis::BenchmarkMode::inference, .batch = 2}, {.steps = 2});
  expect_sums(inference);
  EXPECT_EQ(inference.samples, 2);
  EXPECT_EQ(calls_of(inference, KernelFamily::optimizer), 0);
  EXPECT_EQ(inference.memory.gradients, 0);
  EXPECT_GT(inference.memory.activations, 0);
  const train::StepProfile training =
      profile_trial(*model, {.mode = analysis::BenchmarkMode::training, .batch = 2}, {.steps = 2});
  expect_sums(training);
  EXPECT_EQ(calls_of(training, KernelFamily::optimizer), 1);
  EXPECT_EQ(training.memory.gradients, training.memory.weights);
  EXPECT_GT(training.memory.activations, inference.memory.activations);
}

}  // namespace
}  // namespace cachet::tasks
