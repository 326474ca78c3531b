#pragma once

#include <cstdint>
#include <filesystem>

#include "cachet/train/checkpoint_mean.h"

namespace cachet::tasks {

/// The mean of the last checkpoints that a run kept (train.keep), a step once. Throws io::Error where there are fewer,
/// and as train::mean_of_checkpoints does.
train::CheckpointMean mean_of_last_checkpoints(const std::filesystem::path& run, int64_t last);

/// Where such a mean lies in its run: RUN/checkpoints/mean-10, a checkpoint of weights alone.
std::filesystem::path mean_folder(const std::filesystem::path& run, int64_t last);

}  // namespace cachet::tasks
