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
  TrainState state;            // of the last one
};

/// Parameters are averaged, as the trainer left them (not their moving averages), in float64; buffers (caches,
/// statistics of norms, counters) are states of a model and taken from the last checkpoint. `parameters` lists the
/// parameters. Throws DamagedCheckpoint, and io::Error for checkpoints of different runs or with other names, shapes or
/// types, which it names.
CheckpointMean mean_of_checkpoints(const std::vector<std::filesystem::path>& oldest_first,
                                   const std::set<std::string>& parameters);

/// Writes a checkpoint of only weights, which all commands read except a resume. It replaces an existing one. Throws
/// io::Error; the existing one then does not change.
void write_weights_checkpoint(const std::filesystem::path& folder, const io::TensorMap& weights, TrainState state,
                              const std::string& run_id);

}  // namespace cachet::train
