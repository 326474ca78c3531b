#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/train/machine/process_setup.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/trainer.h"
#include "tests/support/checkpoints.h"
#include "tests/train/toy_task.h"

namespace cachet::test {

/// What the tests train by default: 3 epochs of 4 steps, the last step of an epoch a short one.
inline const std::string kToyRecipe = R"(
[train]
epochs = 3
batch_size = 8
accumulate = 2
seed = 7
threads = 1
clip_norm = 1.0
ema_decay = 0.9
log_every = "2 steps"
evaluate_every = "1 epoch"
checkpoint_every = "1 epoch"
save_minutes = 0
[optimizer]
lr = 0.01
[schedule]
warmup = "2 steps"
)";

/// Reads a recipe as a program would: everything, then the complaint about unknown keys.
inline train::Options read_toy(config::Document& document, int64_t* workers = nullptr) {
  const train::Options options = train::read_options(document.root());
  const int64_t read = document.root().table("data").integer("workers", 0);
  if (workers != nullptr) *workers = read;
  document.finish();
  return options;
}

/// `train RECIPE` or `train RUN --resume`: makes the run folder or resumes it.
inline train::Outcome train_toy(const std::filesystem::path& run, ToyHooks hooks = {},
                                const std::vector<std::string>& settings = {},
                                io::FileSystem& file_system = io::FileSystem::real(),
                                std::unique_ptr<train::StepExecutor> executor = nullptr) {
  config::Document document = config::Document::from_text(kToyRecipe, "toy.toml");
  for (const std::string& setting : settings) document.set(setting);
  if (std::filesystem::exists(run)) train::set_earlier_options(document, train::RunFolder::open(run).values());
  int64_t workers = 0;
  const train::Options options = read_toy(document, &workers);
  train::prepare_process(options.train);
  ToyTask task(workers, std::move(hooks));
  train::RunFolder folder =
      std::filesystem::exists(run)
          ? train::RunFolder::resume(run, document, {"cachet", "train", run.string(), "--resume"})
          : train::RunFolder::create(run, {"toy", kToyRecipe}, document, {"cachet", "train", "toy.toml"});
  return train::Trainer(task, options, folder, nullptr, nullptr, file_system, std::move(executor)).run();
}

/// The events without what differs from run to run.
inline std::string events_text(const std::filesystem::path& run) {
  std::string text;
  for (train::Event event : train::read_events(run / "metrics.jsonl")) {
    event.machine = {};
    text += train::to_json_line(event);
  }
  return text;
}

/// Equality to the last bit of all that two runs left, but for their clocks.
inline void expect_same_runs(const std::filesystem::path& left, const std::filesystem::path& right) {
  const train::Checkpoint a = last_checkpoint(left), b = last_checkpoint(right);
  expect_same_tensors(a.model, b.model);
  expect_same_tensors(a.optimizer, b.optimizer);
  expect_same_tensors(a.ema, b.ema);
  expect_same_tensors(a.random, b.random);
  train::TrainState first = a.state, second = b.state;
  first.seconds = second.seconds = first.running_seconds = second.running_seconds = 0;
  EXPECT_EQ(train::to_json(first), train::to_json(second));
  EXPECT_EQ(events_text(left), events_text(right));
}

}  // namespace cachet::test
