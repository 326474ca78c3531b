#pragma once

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "cachet/io/tensors/state_dict.h"
#include "cachet/nn/base/synced_module.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/step/live_run.h"
#include "tests/support/checkpoints.h"
#include "tests/support/played_processes.h"

namespace cachet::test {

/// What steps of training leave: in one process, in the first and the second of two.
struct JointSteps {
  io::TensorMap alone;
  std::array<io::TensorMap, 2> parts;
  std::array<double, 2> losses{};  // of the last step: alone, of two
};

/// Trains a plan for some steps, alone and in two processes that threads play. Nothing may be drawn in training, whose
/// generator is that of all threads.
inline JointSteps train_joint_steps(const tasks::RecipePlan& plan, int64_t steps,
                                    tasks::Splits splits = tasks::Splits::synthetic) {
  at::set_num_threads(1);
  const auto advance = [&](train::LiveRun& live) {
    double loss = 0;
    for (int64_t step = 0; step < steps; ++step) {
      const auto result = live.advance();
      loss = result.sums.front().total / result.sums.front().count;
    }
    return loss;
  };
  JointSteps left;
  {
    const auto task = plan.build(splits);
    train::LiveRun live(*task, plan.training);
    left.losses[0] = advance(live);
    left.alone = io::state_dict(task->model());
  }
  std::array<std::unique_ptr<tasks::Task>, 2> made;
  std::array<tasks::RecipePlan, 2> plans{plan, plan};
  for (size_t rank = 0; rank < 2; ++rank) {
    plans[rank].training.train.shard = {static_cast<int64_t>(rank), 2};
    made[rank] = plans[rank].build(splits);
  }
  play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    const auto rank = static_cast<size_t>(own->rank());
    nn::use_batch_reducer(made[rank]->model(), own);
    train::LiveRun live(*made[rank], plans[rank].training, own);
    const double loss = advance(live);
    if (rank == 0) left.losses[1] = loss;
    left.parts[rank] = io::state_dict(made[rank]->model());
  });
  return left;
}

/// Both processes have the same, to the last bit.
inline void expect_alike(const JointSteps& left) { expect_same_tensors(left.parts[0], left.parts[1]); }

/// And it is what one process has, but for sums in another order.
inline void expect_as_alone(const JointSteps& left, const std::string& what, double tolerance = 2e-5) {
  expect_alike(left);
  EXPECT_NEAR(left.losses[0], left.losses[1], tolerance * std::abs(left.losses[0])) << what;
  ASSERT_EQ(left.alone.size(), left.parts[0].size());
  for (const auto& [name, alone] : left.alone) {
    const at::Tensor expected = alone.to(at::kDouble), actual = left.parts[0].at(name).to(at::kDouble);
    const double scale = std::max(1e-3, expected.numel() == 0 ? 0 : expected.abs().max().item<double>());
    const double apart = expected.numel() == 0 ? 0 : (actual - expected).abs().max().item<double>();
    EXPECT_LE(apart, tolerance * scale) << what << ": " << name;
  }
}

}  // namespace cachet::test
