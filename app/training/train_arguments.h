#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/train/runs/run_folder.h"

namespace cachet::app {

/// The source name of settings that a run stores. The origins of these values contain it.
inline constexpr const char* kKeptSource = "saved by the run";

/// The source name of values that follow the data. The origins of these values contain it.
inline constexpr const char* kDataSource = "the data";

/// The arguments of `cachet train`.
struct TrainArguments {
  std::string target;                          // a recipe, a run, a folder of seeds, or a model
  std::optional<train::WrittenRecipe> made{};  // generated recipe for a model and the user's own data
  std::vector<std::string> settings;
  std::vector<std::string>
      saved_settings;                   // stored by a run about its data and its recipe's files; override `settings`
  std::vector<std::string> prepared{};  // values from the weights of train.init, for keys that the recipe leaves open
  std::string source_of_prepared{};     // source name of `prepared` for the origins of values
  std::string run, runs = "runs", progress = "auto", seeds;
  std::optional<uint64_t> seed;
  int64_t processes = 0;  // number of processes that train together; 0: from the environment, or else 1
  bool resume = false, print = false, dry_run = false;
  bool fitting_batch = false;         // whether --batch-size is auto
  std::vector<std::string> chosen{};  // settings chosen by --batch-size auto; also in `settings`
  bool of_sweep = false;              // whether a sweep runs this training; the sweep prints all results

  bool is_preview() const { return print || dry_run; }
};

}  // namespace cachet::app
