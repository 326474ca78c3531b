#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

/// An entry of a list of runs.
struct ListedRun {
  std::filesystem::path path;
  std::string name;    // path of the run relative to the listed folder
  std::string recipe;  // name of the run's recipe; empty if the run's folder lacks it
  std::optional<train::Status> status;
  std::string created;  // 2026-11-21T20:43:45Z
  double seconds = 0;   // duration so far, including evaluations

  /// The evaluation with the best value of the deciding metric. If the run has no evaluation, or if an early version of
  /// Cachet began the run without a description, `best` is empty.
  struct Best {
    report::MetricDescription metric;
    double value = 0;
    std::optional<double> error;
    int64_t share_of = 0;  // argument of report::measured_text()
  };
  std::optional<Best> best;
};

struct RunList {
  std::vector<ListedRun> runs;          // runs sorted by name
  std::vector<std::string> unreadable;  // a line for each run that could not be read: its name, and the reason
};

/// Returns the folders of runs in a folder, or the folder itself, sorted by path. Includes the runs in folders of seeds
/// and of sweeps, at most five levels below `folder`. Leaves out links, and folders whose name begins with a dot. If
/// `seeds_as_one` is true, a folder of seeds is one entry.
std::vector<std::filesystem::path> run_folders_below(const std::filesystem::path& folder, bool seeds_as_one = false);

/// Lists the runs in a folder. Throws std::runtime_error if the folder does not exist.
RunList list_runs(const std::filesystem::path& folder);

}  // namespace cachet::tasks
