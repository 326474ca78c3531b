#pragma once

#include <filesystem>

#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Throws std::runtime_error unless a run with these options has as many parts in a step as the checkpoint, if parts
/// have states of their own: a part's state belongs to one of N groups of samples.
void require_as_many_parts(const TrainState& saved, const TrainOptions& options);

/// The same for the newest checkpoint of a folder of checkpoints that can be read. Call it before a resume changes
/// anything in the run.
void require_parts_of_newest(const std::filesystem::path& checkpoints, const TrainOptions& options);

}  // namespace cachet::train
