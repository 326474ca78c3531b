// Which tasks have evaluations that can be replayed, shown on the CPU: replays equal the passes themselves, to the last
// bit, and read the present weights.
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/ops/support/fused.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/task.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/machine/process_setup.h"
#include "tests/support/step_executors.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"

namespace cachet::tasks {
namespace {

using test::KeyFamily;
using test::Settings;

/// What an evaluation finds.
struct Found {
  train::Metrics metrics;
  std::string details;
  bool operator==(const Found&) const = default;
};

std::string found_text(const Found& found) {
  std::string text = found.details;
  for (const auto& [name, value] : found.metrics) text += " " + name + "=" + std::to_string(value);
  return text;
}

Found evaluated(Task& task, train::Precision precision) {
  const train::InferenceScope inference(task.model(), {.precision = precision});
  Found found;
  found.metrics = task.evaluate([](int64_t, int64_t) {});
  found.details = task.evaluation_details();
  return found;
}

/// Changes all weights in place, as training does.
void change_weights(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : model.parameters()) parameter.detach().mul_(1.25).add_(0.01);
}

/// Evaluations before and after a change of the weights.
struct FoundTwice {
  Found before, after;
};

FoundTwice evaluated_twice(const RecipePlan& plan, const std::shared_ptr<train::StepExecutor>& executor,
                           int64_t repeats) {
  at::manual_seed(1);
  const auto task = plan.build();
  task->replay_inference(executor);
  FoundTwice found;
  for (int64_t i = 0; i < repeats; ++i) found.before = evaluated(*task, plan.training.train.precision);
  change_weights(task->model());
  found.after = evaluated(*task, plan.training.train.precision);
  return found;
}

class ReplayedEvaluations : public ::testing::TestWithParam<KeyFamily> {
 protected:
  /// Returns the reason why evaluations cannot be replayed, or compares replays with the passes.
  std::optional<std::string> compare(const Settings& settings) {
    SCOPED_TRACE(GetParam().name + " " + test::list_of(settings));
    const ops::CompositeOnly as_on_cuda;
    config::Document document = test::document_of(GetParam(), settings);
    const RecipePlan plan = read_recipe(document);
    train::prepare_process(plan.training.train);
    if (auto reason = plan.build(Splits::synthetic)->why_inference_not_replayed()) return reason;
    const FoundTwice direct = evaluated_twice(plan, train::make_direct_executor(), 1);
    const auto executor = std::make_shared<test::ReplayExecutor>();
    const FoundTwice replayed = evaluated_twice(plan, executor, 3);
    EXPECT_EQ(found_text(direct.before), found_text(replayed.before));
    EXPECT_EQ(found_text(direct.after), found_text(replayed.after));
    EXPECT_TRUE(direct.before == replayed.before && direct.after == replayed.after);
    EXPECT_FALSE(direct.before == direct.after) << "the change of the weights changes nothing";
    EXPECT_GT(executor->replays(), 0);
    // Searches on the host and on the device round differently.
    if (!is("translation")) {
      const FoundTwice plain = evaluated_twice(plan, nullptr, 1);
      EXPECT_TRUE(plain.before == direct.before && plain.after == direct.after);
    }
    return std::nullopt;
  }

  bool is(const char* kind) const { return GetParam().recipe.find(kind) != std::string::npos; }
};

INSTANTIATE_TEST_SUITE_P(Families, ReplayedEvaluations, ::testing::ValuesIn(test::key_families()),
                         [](const auto& family) { return family.param.name; });

TEST_P(ReplayedEvaluations, EqualTheEvaluationsOrHaveAReason) {
  const bool detects = is("detection"), is_text = is("language_modelling");
  std::vector<Settings> all{{}, {"model.cache.kind=grc"}, {"model.cache.kind=fifo"}, {"train.precision=bf16"}};
  if (!is_text)
    for (const char* norm : {"un", "pn", "batch"}) all.push_back({std::string("model.norm.kind=") + norm});
  for (const Settings& plug_in : all) {
    Settings settings{"train.batch_size=3"};  // the last batch has another size
    if (is_text) settings.push_back("model.cutoffs=[]");
    if (is_text && GetParam().name.starts_with("transformer_xl") && plug_in.size() == 1 &&
        plug_in.front().starts_with("model.cache"))
      settings.push_back("model.memory_length=0");
    settings.insert(settings.end(), plug_in.begin(), plug_in.end());
    const std::optional<std::string> reason = compare(settings);
    EXPECT_EQ(reason.has_value(), detects) << reason.value_or("");
  }
}

}  // namespace
}  // namespace cachet::tasks
