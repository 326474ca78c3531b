#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// A run as a list of runs has it.
struct ListedRun {
  std::filesystem::path path;
  std::string name;    // its path below the folder that was listed
  std::string recipe;  // the name of its recipe; empty if its folder does not have it
  std::optional<train::Status> status;
  std::string created;  // 2026-11-21T20:43:45Z
  double seconds = 0;   // that it took so far, evaluations included

  /// The best evaluation of the metric that decides; nothing if there was none, or if the run is older than its
  /// description.
  struct Best {
    report::MetricDescription metric;
    double value = 0;
    std::optional<double> error;
    int64_t share_of = 0;  // as report::measured_text() takes it
  };
  std::optional<Best> best;
};

struct RunList {
  std::vector<ListedRun> runs;          // by name
  std::vector<std::string> unreadable;  // a line for each run that could not be read: which, and why
};

/// The folders of runs below a folder, or the folder itself, by path: also those of seeds and sweeps, at most five
/// levels down. Links, and folders whose name begins with a dot, are left out. If `seeds_as_one`, a folder of seeds is
/// one entry.
std::vector<std::filesystem::path> run_folders_below(const std::filesystem::path& folder, bool seeds_as_one = false);

/// What is in the folders of these runs. Throws std::runtime_error if there is no such folder.
RunList list_runs(const std::filesystem::path& folder);

}  // namespace cachet::tasks
