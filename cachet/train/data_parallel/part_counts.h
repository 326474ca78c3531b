#pragma once

#include <filesystem>

#include "cachet/train/checkpoints/train_state.h"
#include "cachet/train/options.h"

namespace cachet::train {

/// Throws std::runtime_error if the parts of a step have their own states, and their number differs between `options`
/// and the checkpoint. The checkpoint has a state for each part, so a resume must not change the number of parts.
void require_as_many_parts(const TrainState& saved, const TrainOptions& options);

/// Checks the newest readable checkpoint of a folder with require_as_many_parts(). A resume must call this function
/// before it changes anything in the run.
void require_parts_of_newest(const std::filesystem::path& checkpoints, const TrainOptions& options);

}  // namespace cachet::train
