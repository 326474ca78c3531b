#include "cachet/train/data_parallel/part_counts.h"

#include <optional>
#include <stdexcept>

#include "cachet/config/counted.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"

namespace cachet::train {
namespace {

int64_t parts_of(const TrainOptions& options) { return options.has_parts() ? options.shard.all_parts() : 0; }

std::string spread_text(int64_t parts, int64_t processes) {
  if (parts == 0) return "one state for all micro-batches and processes (statistics and caches)";
  return config::counted(parts, "part") + " in a step (" + config::counted(processes, "process", "processes") +
         " x train.accumulate " + std::to_string(parts / processes) + ")";
}

/// What makes the parts of a run as many as they were.
std::string remedy(int64_t parts, const TrainOptions& options) {
  const int64_t processes = options.shard.world_size;
  if (parts == 0 || !options.has_parts()) return "resume with the train.state of the run";
  if (parts % processes != 0) return "resume with a number of processes that is a divisor of " + std::to_string(parts);
  const int64_t accumulate = parts / processes;
  return "resume with --set train.accumulate=" + std::to_string(accumulate) +
         ", and keep the product of train.batch_size (in translation data.max_tokens) and train.accumulate";
}

}  // namespace

void require_as_many_parts(const TrainState& saved, const TrainOptions& options) {
  if (saved.parts == parts_of(options)) return;
  throw std::runtime_error("the checkpoint has " + spread_text(saved.parts, saved.world_size) +
                           ", but the run would have " + spread_text(parts_of(options), options.shard.world_size) +
                           ". The parts of a step must not change; " + remedy(saved.parts, options));
}

void require_parts_of_newest(const std::filesystem::path& checkpoints, const TrainOptions& options) {
  for (const std::filesystem::path& folder : newest_checkpoints(checkpoints)) {
    std::optional<TrainState> saved;
    try {
      saved = read_checkpoint_state(folder);
    } catch (const DamagedCheckpoint&) {
      continue;
    }
    return require_as_many_parts(*saved, options);
  }
}

}  // namespace cachet::train
