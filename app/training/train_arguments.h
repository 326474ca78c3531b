#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

/// The source of settings that a run saves, in the origins of its values.
inline constexpr const char* kKeptSource = "saved by the run";

/// The source of values that follow the data.
inline constexpr const char* kDataSource = "the data";

/// The arguments of `cachet train`.
struct TrainArguments {
  std::string target;                          // a recipe, a run, a folder of seeds, or a model
  std::optional<train::WrittenRecipe> made{};  // for a model and the user's own data: the recipe instead of a file
  std::vector<std::string> settings;
  std::vector<std::string>
      saved_settings;                   // override `settings`: what a run saves of its data and of its recipe's files
  std::vector<std::string> prepared{};  // values of keys that the recipe leaves open, for the weights of train.init
  std::string source_of_prepared{};     // in the origins of values
  std::string run, runs = "runs", progress = "auto", seeds;
  std::optional<uint64_t> seed;
  int64_t processes = 0;  // that train together; 0 on the command line: the number of the environment, or else one
  bool resume = false, print = false, dry_run = false;
  bool fitting_batch = false;         // --batch-size auto
  std::vector<std::string> chosen{};  // by --batch-size auto; also in `settings`
  bool of_sweep = false;              // the sweep prints the results of all its configurations

  bool is_preview() const { return print || dry_run; }
};

}  // namespace cachet::app
