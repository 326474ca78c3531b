#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/runs/run_record.h"

namespace cachet::tasks {

/// Runs whose recipes differ in nothing but train.seed, each with another seed; or a run alone.
struct RunGroup {
  std::string name;               // "demo", or the run's
  std::vector<RunRecord> runs;    // at least one
  std::vector<uint64_t> missing;  // seeds of its folder whose run has not begun

  std::string title() const;  // "demo (3 seeds)", or the run's name
  bool has_seeds() const { return runs.size() + missing.size() > 1; }
  /// Those that its means count: the ones that are over, or where none is, those that were evaluated, or else all.
  std::vector<const RunRecord*> counted() const;
};

/// Reads runs and folders of seeds, which count as their runs, and groups them in the order in which they come. A run
/// that is named twice counts once. Throws as read_run() does, and for a folder of seeds none of which has begun.
std::vector<RunGroup> read_groups(const std::vector<std::filesystem::path>& paths);

/// The same of runs that were read. Of two runs with one recipe and one seed the second begins a group of its own.
std::vector<RunGroup> grouped(std::vector<RunRecord> runs);

}  // namespace cachet::tasks
