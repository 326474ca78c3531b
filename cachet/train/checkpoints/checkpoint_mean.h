#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cachet/io/tensors/tensor_map.h"
#include "cachet/train/checkpoints/train_state.h"

namespace cachet::train {

/// The mean of a run's checkpoints.
struct CheckpointMean {
  io::TensorMap weights;
  std::vector<int64_t> steps;  // of the checkpoints, in their order
  std::string run;             // its id
  TrainState state;            // of the last checkpoint
};

/// Averages the parameters, as the trainer left them (not their moving averages), in float64. Buffers (caches,
/// statistics of norms, counters) are states of a model and come from the last checkpoint. `parameters` lists the
/// parameters. Throws DamagedCheckpoint, and io::Error if checkpoints are of different runs or differ in names, shapes
/// or types; the error names them.
CheckpointMean mean_of_checkpoints(const std::vector<std::filesystem::path>& oldest_first,
                                   const std::set<std::string>& parameters);

/// Writes a checkpoint with only weights, which all commands except a resume can read. Replaces an existing one. Throws
/// io::Error; an existing checkpoint then does not change.
void write_weights_checkpoint(const std::filesystem::path& folder, const io::TensorMap& weights, TrainState state,
                              const std::string& run_id);

}  // namespace cachet::train
