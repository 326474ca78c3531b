// Which models, plug-ins and tasks have steps that can be replayed, shown on the CPU: a replay of the recorded
// operators equals the step itself, to the last bit.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/ops/support/fused.h"
#include "cachet/tasks/recipe.h"
#include "cachet/tasks/task.h"
#include "cachet/train/machine/process_setup.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/step_graphs.h"
#include "tests/support/checkpoints.h"
#include "tests/support/recorded_steps.h"
#include "tests/support/step_executors.h"
#include "tests/tasks/keys/key_family.h"
#include "tests/tasks/keys/known_key.h"

namespace cachet::tasks {
namespace {

using test::KeyFamily;
using test::Settings;

/// What a run leaves after some steps, with an evaluation between them.
struct Left {
  train::Checkpoint checkpoint;
  std::vector<double> losses;
};

Left after_steps(const RecipePlan& plan, std::unique_ptr<train::StepExecutor> executor) {
  constexpr int64_t kBefore = 12, kAfter = 12;  // until a memory is full, and batches have met all their lengths
  at::manual_seed(1);
  const auto task = plan.build();
  train::LiveRun live(*task, plan.training, nullptr, std::move(executor));
  Left left;
  const auto add = [&](const train::StepSummary& summary) {
    if (summary.read_steps > 0) left.losses.push_back(train::means(summary.sums).find("loss").value());
  };
  for (int64_t i = 0; i < kBefore; ++i) add(live.advance());
  add(live.settle());
  live.evaluate([](int64_t, int64_t) {});
  for (int64_t i = 0; i < kAfter; ++i) add(live.advance());
  add(live.settle());
  left.checkpoint = live.capture();
  return left;
}

class ReplayedSteps : public ::testing::TestWithParam<KeyFamily> {
 protected:
  /// Returns the reason why the steps cannot be replayed, or compares replays with steps.
  std::optional<std::string> compare(const Settings& settings) {
    SCOPED_TRACE(GetParam().name + " " + test::list_of(settings));
    const ops::CompositeOnly as_on_cuda;
    config::Document document = test::document_of(GetParam(), settings);
    const RecipePlan plan = read_recipe(document);
    train::prepare_process(plan.training.train);
    if (auto reason = train::why_not_replayed(*plan.build(Splits::synthetic), plan.training, 1)) return reason;
    auto watched = std::make_unique<test::SameCallsExecutor>();
    const auto differences = watched->differences();
    const auto compared = watched->compared();
    const Left direct = after_steps(plan, std::move(watched));
    EXPECT_EQ(differences->empty() ? "" : differences->front(), "");
    EXPECT_GT(*compared, 0);
    auto executor = std::make_unique<test::ReplayExecutor>();
    const std::shared_ptr<const test::ReplayCount> replays = executor->count();
    const Left replayed = after_steps(plan, std::move(executor));
    test::expect_same_tensors(direct.checkpoint.model, replayed.checkpoint.model);
    test::expect_same_tensors(direct.checkpoint.optimizer, replayed.checkpoint.optimizer);
    test::expect_same_tensors(direct.checkpoint.carried, replayed.checkpoint.carried);
    test::expect_same_tensors(direct.checkpoint.random, replayed.checkpoint.random);
    EXPECT_EQ(direct.losses, replayed.losses);
    EXPECT_GT(replays->replays, 0);
    return std::nullopt;
  }

  bool is(const char* kind) const { return GetParam().recipe.find(kind) != std::string::npos; }
};

INSTANTIATE_TEST_SUITE_P(Families, ReplayedSteps, ::testing::ValuesIn(test::key_families()),
                         [](const auto& family) { return family.param.name; });

/// Batches of one shape, so that a step meets its recording again.
Settings one_shape(const KeyFamily& family) {
  const auto is = [&](const char* kind) { return family.recipe.find(kind) != std::string::npos; };
  Settings settings{"train.batch_size=2", "train.accumulate=1", "train.epochs=100", "model.dropout=0"};
  if (is("language_modelling")) settings.push_back("model.cutoffs=[]");
  return settings;
}

TEST_P(ReplayedSteps, EqualTheStepsOrHaveAReason) {
  if (GetParam().name == "t2t_performer") GTEST_SKIP() << "its first attention always has dropout";
  const bool detects = is("detection"), is_text = is("language_modelling");
  // Without dropout, whose seed on the CPU is drawn on the host; DeviceStep's tests have the dropout of CUDA.
  std::vector<Settings> all{{}, {"model.cache.kind=grc"}, {"model.cache.kind=fifo"}};
  if (!is_text)
    for (const char* norm : {"un", "mabn", "pn", "batch"}) all.push_back({std::string("model.norm.kind=") + norm});
  for (const Settings& plug_in : all) {
    Settings settings = one_shape(GetParam());
    if (is_text && GetParam().name.starts_with("transformer_xl") && plug_in.size() == 1)
      settings.push_back("model.memory_length=0");
    settings.insert(settings.end(), plug_in.begin(), plug_in.end());
    const std::optional<std::string> reason = compare(settings);
    EXPECT_EQ(reason.has_value(), detects) << reason.value_or("");
  }
}

class FailedRecordings : public ReplayedSteps {};

INSTANTIATE_TEST_SUITE_P(Families, FailedRecordings, ::testing::ValuesIn(test::key_families()),
                         [](const auto& family) { return family.param.name; });

// A recording fails in the update: at that time forward has already written memories of the next step.
TEST_P(FailedRecordings, LeaveTheSameRun) {
  if (GetParam().name == "t2t_performer" || is("detection")) GTEST_SKIP() << "as EqualTheStepsOrHaveAReason";
  const ops::CompositeOnly as_on_cuda;
  Settings settings = one_shape(GetParam());
  settings.push_back("model.cache.kind=grc");
  if (GetParam().name.starts_with("transformer_xl")) settings.pop_back();
  config::Document document = test::document_of(GetParam(), settings);
  const RecipePlan plan = read_recipe(document);
  train::prepare_process(plan.training.train);
  const Left direct = after_steps(plan, train::make_direct_executor());
  int64_t failures = 0;
  const auto in_update = [&](size_t, const std::string& name) {
    const bool fails = name.starts_with("aten::_fused_");
    failures += fails ? 1 : 0;
    return fails;
  };
  const Left failed = after_steps(plan, std::make_unique<test::RecordingExecutor>(in_update));
  test::expect_same_tensors(direct.checkpoint.model, failed.checkpoint.model);
  test::expect_same_tensors(direct.checkpoint.optimizer, failed.checkpoint.optimizer);
  test::expect_same_tensors(direct.checkpoint.carried, failed.checkpoint.carried);
  EXPECT_EQ(direct.losses, failed.losses);
  EXPECT_GT(failures, 0);
}

}  // namespace
}  // namespace cachet::tasks
