#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/tasks/dry_run.h"
#include "tests/support/device_reads.h"
#include "tests/tasks/joint_recipes.h"
#include "tests/tasks/joint_steps.h"

// Two micro-batches of one process whose parts have states of their own are two processes, bit by bit. Nothing is drawn
// here: processes are threads, which have one generator (tests/app/parts_test.py has real ones, with dropout).
namespace cachet::tasks {
namespace {

using Settings = std::vector<std::string>;
using train::StateRule;

/// `step_samples` in two parts.
RecipePlan parts_plan(const std::string& recipe, const Settings& settings, StateRule state, int64_t step_samples,
                      int64_t processes) {
  RecipePlan plan = test::joint_plan(recipe, settings, step_samples);
  train::TrainOptions& training = plan.training.train;
  training.state = state;
  training.accumulate = 2 / processes;
  training.batch_size = step_samples / training.accumulate;
  training.shard = {0, processes, training.accumulate};
  return plan;
}

train::Checkpoint trained_alone(const RecipePlan& plan, int64_t steps, double& loss) {
  at::set_num_threads(1);
  const auto task = plan.build(Splits::synthetic);
  train::LiveRun live(*task, plan.training);
  for (int64_t step = 0; step < steps; ++step) {
    const auto result = live.advance();
    loss = result.sums.front().total / result.sums.front().count;
  }
  return live.capture();
}

train::Checkpoint trained_by_two(const RecipePlan& plan, int64_t steps, double& loss) {
  at::set_num_threads(1);
  std::vector<RecipePlan> plans(2, plan);
  std::vector<std::unique_ptr<Task>> made;
  for (int64_t rank = 0; rank < 2; ++rank) {
    plans[static_cast<size_t>(rank)].training.train.shard.rank = rank;
    made.push_back(plans[static_cast<size_t>(rank)].build(Splits::synthetic));
  }
  train::Checkpoint checkpoint;
  test::play_well(2, [&](const std::shared_ptr<processes::ProcessGroup>& own) {
    const auto rank = static_cast<size_t>(own->rank());
    train::LiveRun live(*made[rank], plans[rank].training, own);
    train::StepSummary result;
    for (int64_t step = 0; step < steps; ++step) result = live.advance();
    if (!own->leads()) return live.send_state();
    loss = result.sums.front().total / result.sums.front().count;
    checkpoint = live.capture();
  });
  return checkpoint;
}

void expect_two_parts_are_two_processes(const std::string& recipe, const Settings& settings, int64_t samples,
                                        int64_t steps) {
  for (const StateRule state : {StateRule::separate, StateRule::first}) {
    std::string what = state == StateRule::first ? "first: " : "separate: ";
    for (const std::string& setting : settings) what += setting + " ";
    SCOPED_TRACE(what);
    double loss = 0, loss_of_two = 1;
    const train::Checkpoint one = trained_alone(parts_plan(recipe, settings, state, samples, 1), steps, loss);
    const train::Checkpoint two = trained_by_two(parts_plan(recipe, settings, state, samples, 2), steps, loss_of_two);
    EXPECT_EQ(loss, loss_of_two);
    test::expect_same_tensors(one.model, two.model);
    test::expect_same_tensors(one.parts, two.parts);
    test::expect_same_tensors(one.optimizer, two.optimizer);
    test::expect_same_tensors(one.carried, two.carried);
    const auto task = test::joint_plan(recipe, settings, 2).build(Splits::synthetic);
    EXPECT_EQ(one.parts.empty(), state == StateRule::first || io::distinct_buffers(task->model()).empty());
  }
}

// Odd numbers: one part has a sample less.
TEST(Parts, OfImagesAreProcesses) {
  for (const Settings& settings :
       {Settings{"model.norm.kind=un", "model.cache.kind=grc"},
        Settings{"model.norm.kind=batch", "model.cache.kind=fifo"}, Settings{"model.cache.kind=concatenated"},
        Settings{"model.norm.kind=un", "model.cache.kind=concatenated"}, Settings{"model.norm.kind=pn"},
        Settings{"model.norm.kind=mabn"}, Settings{"model.norm.kind=layer"}})
    expect_two_parts_are_two_processes(test::kJointImages, settings, 6, 5);
}

TEST(Parts, OfSequencesAreProcesses) {
  for (const Settings& settings : {Settings{"model.cache.kind=grc", "model.cache.positional_convolution=false"},
                                   Settings{"model.norm.kind=un", "model.attention.kind=kernel",
                                            "model.attention.form=oglu", "model.attention.penalty=0.1"}})
    expect_two_parts_are_two_processes(test::kJointSequences, settings, 4, 5);
}

TEST(Parts, OfADetectorAreProcesses) {
  for (const Settings& plug_ins :
       {Settings{"model.norm.kind=batch"}, Settings{"model.norm.kind=un", "model.cache.kind=grc"},
        Settings{"model.cache.kind=concatenated"}}) {
    Settings settings{"model.name=retinanet_pvt_tiny_fpn", "model.bbox_head.feat_channels=8",
                      "model.bbox_head.stacked_convs=1"};
    settings.insert(settings.end(), plug_ins.begin(), plug_ins.end());
    expect_two_parts_are_two_processes(test::kJointScenes, settings, 4, 3);
  }
}

// A step reads as many numbers with the cache as without: what it holds is known on the host, for each part.
TEST(Parts, ReadNothingFromTheDeviceForAConcatenatedCache) {
  const auto reads_of = [](const Settings& settings, StateRule state) {
    at::set_num_threads(1);
    RecipePlan plan = parts_plan(test::kJointImages, settings, state, 6, 1);
    if (state == StateRule::shared) plan.training.train.shard.parts = 1;
    const auto task = plan.build(Splits::synthetic);
    train::LiveRun live(*task, plan.training);
    test::DeviceReads reads;
    for (int64_t step = 0; step < 3; ++step) live.advance();
    return reads.taken();
  };
  for (const StateRule state : {StateRule::shared, StateRule::separate, StateRule::first})
    EXPECT_EQ(reads_of({"model.cache.kind=concatenated"}, state), reads_of({}, state)) << static_cast<int>(state);
}

TEST(Parts, RefuseAStepOfFewerSamplesThanParts) {
  RecipePlan plan = parts_plan(test::kJointImages, {}, StateRule::separate, 2, 2);
  plan.training.train.shard.parts = 2;
  plan.training.train.batch_size = 1;
  EXPECT_THROW(plan.build(Splits::synthetic), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::tasks
