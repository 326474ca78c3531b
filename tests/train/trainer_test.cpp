#include "cachet/train/trainer.h"

#include <ATen/ops/full_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cachet/train/gradients.h"
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

TEST(Trainer, StopsBeforeAnUpdateThatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (int64_t at = 0; at < 21; at += 4) {
    for (const float value : {nan, infinity}) {
      for (const bool in_gradient : {false, true}) {
        const TemporaryDirectory folder;
        int64_t forwards = 0;
        ToyHooks hooks;
        hooks.loss = [&](at::Tensor loss) {
          if (forwards++ != at) return loss;
          if (!in_gradient) return loss * value;
          loss.register_hook([value](at::Tensor gradient) { return at::full_like(gradient, value); });
          return loss * 1;
        };
        const Outcome outcome = train_toy(folder / "run", hooks, {"train.checkpoint_every=\"1 step\""});
        SCOPED_TRACE(outcome.message);
        EXPECT_EQ(outcome.ending, Ending::not_finite);
        EXPECT_EQ(outcome.exit_code(), 1);
        const int64_t step = at / 7 * 4 + at % 7 / 2 + 1;
        EXPECT_NE(outcome.message.find("step " + std::to_string(step) + " "), std::string::npos);
        EXPECT_NE(outcome.message.find(in_gradient ? "the gradient of " : "the loss"), std::string::npos);
        if (step == 1) continue;
        const Checkpoint checkpoint = test::last_checkpoint(folder / "run");
        EXPECT_EQ(checkpoint.state.step, step - 1);
        for (const auto* tensors : {&checkpoint.model, &checkpoint.optimizer, &checkpoint.ema}) {
          EXPECT_FALSE(first_non_finite(*tensors));
        }
        EXPECT_NE(outcome.message.find("step-0"), std::string::npos) << "the last good checkpoint is not named";
      }
    }
  }
}

TEST(Trainer, SavesNoWeightsThatAreNotFinite) {
  const TemporaryDirectory folder;
  // The rate overflows the weights in an update whose loss and gradient were finite.
  const Outcome outcome = train_toy(folder / "run", {},
                                    {"optimizer.lr=1e38", "optimizer.weight_decay=1e38", "schedule.warmup=\"0 steps\"",
                                     "train.checkpoint_every=\"1 step\"", "train.epochs=1"});
  EXPECT_EQ(outcome.ending, Ending::not_finite) << outcome.message;
  EXPECT_FALSE(fs::exists(folder / "run" / "checkpoints" / "last"));
}

}  // namespace
}  // namespace cachet::train
