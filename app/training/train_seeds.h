#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/training/train_arguments.h"

namespace cachet::app {

/// Parses the value of --seeds: "5" means five seeds from `first` on; "0,1,7" means these three. Throws UsageError.
std::vector<uint64_t> parse_seeds(const std::string& text, uint64_t first);

/// The result of training several seeds.
struct SeedsOutcome {
  int code = kDone;                 // an ExitCode
  std::vector<uint64_t> elsewhere;  // seeds that other processes train
};

/// Runs `cachet train` with several seeds, one after the other. Skips seeds that another process trains.
SeedsOutcome train_seeds(const TrainArguments& arguments);

}  // namespace cachet::app
