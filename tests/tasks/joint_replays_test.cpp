// Several processes replay their forward and backward passes, but not the sums over processes and the optimizer: the
// result equals the steps without replays, to the last bit.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/nn/base/synced_module.h"
#include "cachet/ops/support/fused.h"
#include "cachet/train/step/live_run.h"
#include "cachet/train/step/step_graphs.h"
#include "tests/support/checkpoints.h"
#include "tests/support/played_processes.h"
#include "tests/support/step_executors.h"
#include "tests/tasks/joint_recipes.h"

namespace cachet::tasks {
namespace {

using test::joint_plan, test::kJointImages, test::kJointSequences;

using MakeExecutor = std::function<std::unique_ptr<train::StepExecutor>()>;

/// What two processes leave after some steps.
struct LeftByTwo {
  std::array<io::TensorMap, 2> models;
  std::array<std::vector<double>, 2> losses, norms;
};

LeftByTwo after_joint_steps(const RecipePlan& plan, int64_t steps, const MakeExecutor& make) {
  const ops::CompositeOnly as_on_cuda;
  at::set_num_threads(1);
  LeftByTwo left;
  std::array<std::unique_ptr<Task>, 2> made;
  std::array<RecipePlan, 2> plans{plan, plan};
  for (size_t rank = 0; rank < 2; ++rank) {
    plans[rank].training.train.shard = {static_cast<int64_t>(rank), 2};
    at::manual_seed(1);
    made[rank] = plans[rank].build(Splits::synthetic);
  }
  test::play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    const auto rank = static_cast<size_t>(own->rank());
    nn::use_batch_reducer(made[rank]->model(), own);
    train::LiveRun live(*made[rank], plans[rank].training, own, make());
    for (int64_t step = 0; step < steps; ++step) {
      const train::StepSummary summary = live.advance();
      left.losses[rank].push_back(train::means(summary.sums).find("loss").value());
      left.norms[rank].push_back(summary.gradient_norm);
    }
    left.models[rank] = io::state_dict(made[rank]->model());
  });
  return left;
}

void expect_replays_equal_steps(const RecipePlan& plan, int64_t steps) {
  ASSERT_EQ(train::why_not_replayed(*plan.build(Splits::synthetic), plan.training, 2), std::nullopt);
  const LeftByTwo plain = after_joint_steps(plan, steps, [] { return nullptr; });
  const LeftByTwo direct = after_joint_steps(plan, steps, train::make_direct_executor);
  std::vector<std::shared_ptr<const test::ReplayCount>> counts;
  std::mutex made;
  const LeftByTwo replayed = after_joint_steps(plan, steps, [&] {
    auto executor = std::make_unique<test::ReplayExecutor>();
    const std::lock_guard lock(made);
    counts.push_back(executor->count());
    return executor;
  });
  for (const LeftByTwo* left : {&direct, &replayed}) {
    for (size_t rank = 0; rank < 2; ++rank) {
      test::expect_same_tensors(plain.models[rank], left->models[rank]);
      EXPECT_EQ(plain.losses[rank], left->losses[rank]);
      EXPECT_EQ(plain.norms[rank], left->norms[rank]);
    }
  }
  test::expect_same_tensors(replayed.models[0], replayed.models[1]);
  ASSERT_EQ(counts.size(), 2);
  for (const auto& count : counts) EXPECT_GT(count->replays, 0);
}

TEST(JointReplays, OfImagesEqualTheSteps) {
  for (const std::vector<std::string>& settings :
       {std::vector<std::string>{}, {"train.accumulate=2"}, {"model.norm.kind=rms", "train.clip_norm=1e-3"}})
    expect_replays_equal_steps(joint_plan(kJointImages, settings, 5), 8);  // three images and two images
}

TEST(JointReplays, OfSequencesEqualTheSteps) {
  expect_replays_equal_steps(
      joint_plan(kJointSequences,
                 {"model.attention.kind=kernel", "model.attention.form=oglu", "model.attention.penalty=0.1"}, 3),
      8);
}

TEST(JointReplays, AModelThatSumsOverProcessesInAPassHasAReason) {
  for (const char* setting : {"model.norm.kind=un", "model.norm.kind=batch", "model.norm.kind=pn",
                              "model.cache.kind=grc", "model.cache.kind=fifo", "model.cache.kind=concatenated"}) {
    const RecipePlan plan = joint_plan(kJointImages, {setting}, 5);
    const auto task = plan.build(Splits::synthetic);
    EXPECT_EQ(train::why_not_replayed(*task, plan.training, 1), std::nullopt) << setting;
    EXPECT_EQ(train::why_not_replayed(*task, plan.training, 2),
              "caches, or norms with batch statistics, sum over all processes during a pass")
        << setting;
  }
}

}  // namespace
}  // namespace cachet::tasks
