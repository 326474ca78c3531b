#include "cachet/tasks/weights/averaged_weights.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/counted.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/model.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::tasks {

train::CheckpointMean mean_of_last_checkpoints(const std::filesystem::path& run, int64_t last) {
  const train::RunFolder folder = train::RunFolder::open(run);
  const auto held =
      train::hold_newest_checkpoints(folder.checkpoints(), static_cast<size_t>(last), train::CheckpointChoice::regular);
  const auto kept = static_cast<int64_t>(held.size());
  if (kept < last)
    throw io::Error(folder.checkpoints().string() + ": has " + config::counted(kept, "checkpoint") + ", but " +
                    std::to_string(last) +
                    " are needed; train.keep sets how many checkpoints a run keeps, and train.checkpoint_every sets "
                    "how often a run saves a checkpoint");
  std::vector<std::filesystem::path> checkpoints;
  for (const train::HeldCheckpoint& one : held) checkpoints.push_back(one.folder);
  std::ranges::reverse(checkpoints);
  const auto model = read_saved_plan(run).model().build();
  std::set<std::string> parameters;
  for (const io::NamedTensor& parameter : io::distinct_parameters(*model))
    parameters.insert(parameter.names.begin(), parameter.names.end());
  return train::mean_of_checkpoints(checkpoints, parameters);
}

std::filesystem::path mean_folder(const std::filesystem::path& run, int64_t last) {
  return train::RunFolder::open(run).checkpoints() / ("mean-" + std::to_string(last));
}

train::CheckpointMean newest_moving_average(const std::filesystem::path& run) {
  const train::RunFolder folder = train::RunFolder::open(run);
  const auto held = train::hold_newest_checkpoints(folder.checkpoints(), 1);
  if (held.empty()) throw io::Error(folder.checkpoints().string() + ": has no checkpoint");
  train::Checkpoint checkpoint = train::read_checkpoint(held.front().folder);
  if (checkpoint.ema.empty())
    throw io::Error(held.front().folder.string() +
                    ": has no moving average of the weights; train with train.ema_decay to get an average");
  io::require_finite(checkpoint.ema, held.front().folder.string());
  const int64_t step = checkpoint.state.step;
  return {std::move(checkpoint.ema), {step}, folder.id(), std::move(checkpoint.state)};
}

std::filesystem::path moving_average_folder(const std::filesystem::path& run) {
  return train::RunFolder::open(run).checkpoints() / "ema";
}

}  // namespace cachet::tasks
