#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/train/options.h"

namespace cachet::train {

/// Returns lines for the user if a recipe's numbers of steps are inconsistent: if the schedule's warm-up is longer than
/// the run, or if train.epochs ends the run before train.limit.
std::vector<std::string> length_notes(const Options& options, int64_t total_steps, int64_t steps_per_epoch);

}  // namespace cachet::train
