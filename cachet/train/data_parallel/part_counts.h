#pragma once

#include <filesystem>

#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// If parts have states of their own, throws std::runtime_error unless a step has as many parts with these options as
/// in the checkpoint: the state of a part belongs to one of N groups of samples.
void require_as_many_parts(const TrainState& saved, const TrainOptions& options);

/// Checks the newest readable checkpoint of a folder of checkpoints in the same way. To be called before a resume
/// changes anything in the run.
void require_parts_of_newest(const std::filesystem::path& checkpoints, const TrainOptions& options);

}  // namespace cachet::train
