// Which runs replay their steps, and what a run reports that does not.
#include "cachet/train/step/step_graphs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/thrown_message.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

Options options_with(const std::vector<std::string>& settings) {
  config::Document document = config::Document::from_text(test::kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  return test::read_toy(document);
}

/// A toy task whose passes can be replayed.
class ReplayableToy : public test::ToyTask {
 public:
  std::optional<std::string> why_not_replayed() override { return std::nullopt; }
};

TEST(StepGraphs, ACpuTakesTrainingSteps) {
  ReplayableToy task;
  for (const char* use : {"auto", "off"}) {
    const Options options = options_with({std::string("train.graph=") + use});
    const GraphPlan plan = graph_plan(task, options, at::kCPU, 1);
    EXPECT_FALSE(plan.has_executor) << use;
    EXPECT_EQ(plan.note, "") << use;
    EXPECT_EQ(make_executor(plan, options, at::kCPU), nullptr) << use;
  }
}

TEST(StepGraphs, OnWithoutACudaDeviceIsAnErrorThatNamesTheReason) {
  ReplayableToy task;
  const Options options = options_with({"train.graph=on"});
  EXPECT_EQ(test::thrown_message<std::runtime_error>([&] { graph_plan(task, options, at::kCPU, 1); }),
            "train.graph = \"on\" is impossible: the model is not on a CUDA device; set train.graph = \"auto\"");
}

TEST(StepGraphs, EachReasonIsAClause) {
  ReplayableToy task;
  const auto reason = [&](const std::vector<std::string>& settings, int64_t processes = 1) {
    return why_not_replayed(task, options_with(settings), processes).value_or("");
  };
  EXPECT_EQ(reason({}), "");
  EXPECT_EQ(reason({}, /*processes=*/2), "");
  EXPECT_EQ(reason({"train.state=separate"}), "the parts of a step have states of their own (train.state)");
  EXPECT_EQ(reason({"train.normality_passes=8"}), "train.normality_passes tests statistics on the host");
  EXPECT_EQ(reason({"schedule.kind=one_cycle", "schedule.warmup=0 steps"}),
            "the schedule changes the momentum in each step");
  // Several processes do not replay the optimizer.
  EXPECT_EQ(reason({"schedule.kind=one_cycle", "schedule.warmup=0 steps"}, /*processes=*/2), "");
  test::ToyTask without_description;
  EXPECT_EQ(why_not_replayed(without_description, options_with({}), 1), "the task does not describe its micro-batches");
}

TEST(StepGraphs, TheLineSaysWhatSeveralProcessesReplay) {
  EXPECT_EQ(replays_text(GraphUse::automatic, 1, {}), "the steps and the evaluations are replayed as CUDA graphs");
  EXPECT_EQ(replays_text(GraphUse::on, 2, {}),
            "the forward and backward passes of the steps and the evaluations are replayed as CUDA graphs; the sums "
            "over processes and the optimizer are not");
  EXPECT_EQ(replays_text(GraphUse::automatic, 1, "it rains"),
            "the steps are replayed as CUDA graphs; the evaluations run without graphs, because it rains");
  EXPECT_EQ(replays_text(GraphUse::off, 2, {}), "the steps run without CUDA graphs (train.graph = \"off\")");
}

}  // namespace
}  // namespace cachet::train
