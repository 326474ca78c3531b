#pragma once

#include <cstdint>
#include <filesystem>

#include "cachet/train/checkpoints/checkpoint_mean.h"

namespace cachet::tasks {

/// Returns the mean of the `last` newest checkpoints of a run. Checkpoints of the same step count once.
/// Throws io::Error if the run has fewer than `last` checkpoints. Also throws the errors of
/// train::mean_of_checkpoints().
train::CheckpointMean mean_of_last_checkpoints(const std::filesystem::path& run, int64_t last);

/// Returns the folder for the mean of a run's last `last` checkpoints: RUN/checkpoints/mean-10. The mean in this folder
/// is a checkpoint that has only weights.
std::filesystem::path mean_folder(const std::filesystem::path& run, int64_t last);

/// Returns the moving average of the weights (train.ema_decay) in the newest checkpoint of a run. The result has the
/// form of a mean of one checkpoint. Throws io::Error if the checkpoint has no moving average, and
/// train::DamagedCheckpoint if the checkpoint is damaged.
train::CheckpointMean newest_moving_average(const std::filesystem::path& run);

/// Returns the default folder, within a run, for the weights of newest_moving_average(): RUN/checkpoints/ema.
std::filesystem::path moving_average_folder(const std::filesystem::path& run);

}  // namespace cachet::tasks
