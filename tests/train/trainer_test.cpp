#include "cachet/train/trainer.h"

#include <gtest/gtest.h>

#include "cachet/train/training_step.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/toy_run.h"

namespace cachet::train {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::ToyHooks;
using test::train_toy;

TEST(Trainer, LeavesARunFolderThatSaysEverything) {
  const TemporaryDirectory folder;
  std::vector<bool> reports;
  ToyHooks hooks;
  hooks.report = [&](const Status& status) { reports.push_back(status.running); };
  const Outcome outcome = train_toy(folder / "run", hooks);
  EXPECT_EQ(outcome.ending, Ending::finished);
  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.step, 12);
  EXPECT_GT(outcome.metrics.find("top1").value(), 0.5) << "nothing was learnt";
  EXPECT_EQ(reports, (std::vector<bool>{true, true, true, false}));
  for (const char* name : {"recipe.toml", "resolved.toml", "command.txt", "environment.json", "log.txt",
                           "metrics.jsonl", "summary.csv", "run.json", "checkpoints/last", "checkpoints/best"}) {
    EXPECT_TRUE(fs::exists(folder / "run" / name)) << name;
  }
  EXPECT_TRUE(fs::is_symlink(folder / "latest"));
  const std::vector<Event> events = read_events(folder / "run" / "metrics.jsonl");
  int evaluations = 0;
  for (const Event& event : events) {
    if (event.kind == Event::Kind::evaluation) {
      ++evaluations;
      continue;
    }
    for (const char* name : {"loss", "top1", "lr", "grad_norm"}) EXPECT_TRUE(event.metrics.find(name)) << name;
    for (const char* name : {"seconds", "samples_per_second", "data_wait", "memory_bytes", "seconds_left"}) {
      EXPECT_TRUE(event.machine.find(name)) << name;
    }
    EXPECT_EQ(event.series.at(0).values.size(), 2U);
  }
  EXPECT_EQ(evaluations, 3);
  EXPECT_EQ(events.size(), 9U);
}

TEST(Trainer, EndsWithMeansOfMoreThanAFewSteps) {
  const auto lines = [](const std::string& limit) {
    const TemporaryDirectory folder;
    train_toy(folder / "run", {}, {"train.log_every=4 steps", "train.limit=" + limit});
    std::vector<int64_t> steps;
    for (const Event& event : read_events(folder / "run" / "metrics.jsonl"))
      if (event.kind == Event::Kind::step) steps.push_back(event.step);
    return steps;
  };
  EXPECT_EQ(lines("3 steps"), (std::vector<int64_t>{3}));
  EXPECT_EQ(lines("9 steps"), (std::vector<int64_t>{4, 9})) << "the last line takes one step more than four";
  EXPECT_EQ(lines("10 steps"), (std::vector<int64_t>{4, 8, 10})) << "half as many as usual are left";
}

TEST(Trainer, CountsEachMicroBatchInTheStateOfTheModel) {
  const TemporaryDirectory folder;
  train_toy(folder / "run");
  EXPECT_EQ(test::last_checkpoint(folder / "run").model.at("forwards").item<int64_t>(), 3 * 7);
}

TEST(Trainer, AccumulatesTheMeanOfTheGradients) {
  // Two micro-batches of 8 are one batch of 16 where nothing is random and no state is kept.
  const auto run_step = [](int64_t batch_size, int64_t micro_batches) {
    Options options;
    options.optimizer.kind = OptimizerOptions::Kind::sgd;
    options.train.seed = 3;
    prepare_process(options.train);
    test::ToyTask task(0, {}, batch_size);
    task.model().eval();
    TrainingStep step(task, options);
    auto stream = task.training_stream(0, 0);
    step.run(*stream, micro_batches, 0.1);
    return task.toy().weight_.detach().clone();
  };
  EXPECT_TRUE(run_step(8, 2).allclose(run_step(16, 1), 1e-5, 1e-6));
  EXPECT_FALSE(run_step(8, 1).allclose(run_step(16, 1), 1e-5, 1e-6));
}

TEST(Trainer, StopsAtItsBounds) {
  const TemporaryDirectory folder;
  EXPECT_EQ(train_toy(folder / "limit", {}, {"train.limit=\"5 steps\""}).step, 5);
  const Outcome early =
      train_toy(folder / "patience", {}, {"train.patience=1", "optimizer.lr=1e-12", "train.epochs=30"});
  EXPECT_EQ(early.ending, Ending::early_stop);
  EXPECT_EQ(early.exit_code(), 0);
  EXPECT_LT(early.step, 100);
  const Outcome late = train_toy(folder / "time", {}, {"train.max_hours=1e-9", "train.epochs=1000"});
  EXPECT_EQ(late.ending, Ending::out_of_time);
  EXPECT_TRUE(fs::exists(folder / "time" / "run.json"));
}

TEST(Trainer, TrainsInBfloat16WithFloat32Weights) {
  const TemporaryDirectory folder;
  ToyHooks hooks;
  EXPECT_EQ(train_toy(folder / "run", hooks, {"train.precision=bf16"}).ending, Ending::finished);
  EXPECT_EQ(test::last_checkpoint(folder / "run").model.at("head_weight").scalar_type(), at::kFloat);
  train_toy(folder / "fp32");
  EXPECT_FALSE(test::last_checkpoint(folder / "run")
                   .model.at("head_weight")
                   .equal(test::last_checkpoint(folder / "fp32").model.at("head_weight")))
      << "autocast was not on";
}

}  // namespace
}  // namespace cachet::train
