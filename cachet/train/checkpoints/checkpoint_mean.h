#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// The mean of several checkpoints of a run.
struct CheckpointMean {
  io::TensorMap weights;
  std::vector<int64_t> steps;  // steps of the checkpoints, in their order
  std::string run;             // id of the run
  TrainState state;            // state of the last checkpoint
};

/// Averages the trained parameters (not their moving averages) of checkpoints in float64. Buffers (caches, statistics
/// of norms, counters) are states of a model, so they come from the last checkpoint. `parameters` lists the parameters.
/// Throws DamagedCheckpoint. Throws io::Error, which names the checkpoints, if they belong to different runs or differ
/// in names, shapes or types.
CheckpointMean mean_of_checkpoints(const std::vector<std::filesystem::path>& oldest_first,
                                   const std::set<std::string>& parameters);

/// Writes a checkpoint with only weights, which all commands except a resume can read. Replaces an existing checkpoint.
/// If writing fails, throws io::Error, and the existing checkpoint does not change.
void write_weights_checkpoint(const std::filesystem::path& folder, const io::TensorMap& weights, TrainState state,
                              const std::string& run_id);

}  // namespace cachet::train
