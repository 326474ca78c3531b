#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cachet/tasks/runs/run_record.h"
#include "cachet/tasks/runs/settled_data.h"

namespace cachet::tasks {

struct RunValue;

/// A single run, or several runs whose recipes differ only in train.seed (one run for each seed) and whose data are not
/// known to differ.
struct RunGroup {
  std::string name;               // "demo", or the name of the run
  std::vector<RunRecord> runs;    // at least one run
  std::vector<uint64_t> missing;  // seeds of the group's folder whose run has not started

  std::string title() const;  // "demo (3 seeds)", "demo (2 of 3 seeds)" if two are counted, or the name of the run
  bool has_seeds() const { return runs.size() + missing.size() > 1; }
  /// Returns the runs over which means are taken: the finished runs, or else the evaluated runs, or else all runs.
  std::vector<const RunRecord*> counted() const;
  /// Returns the number of failed runs. If a run of the group failed, the group takes no part in statistical tests and
  /// in the choice of the best group.
  size_t failed() const;
  /// Whether all runs of counted() are finished. If a run of counted() is not finished, the group takes no part in
  /// statistical tests and in the choice of the best group.
  bool is_over() const;

  /// The result of group_values(). A group must not change after the first call of group_values().
  mutable std::shared_ptr<const std::vector<RunValue>> values{};
};

struct ReadGroups {
  std::vector<RunGroup> groups;
  std::vector<std::string> unreadable;  // a line for each run that could not be read: its name, and the reason
};

/// Reads runs and folders of runs or seeds, and groups the runs in the order of the paths. A repeated run counts once.
/// If no run can be read, throws std::runtime_error with all lines of ReadGroups::unreadable. If `look` is given, calls
/// settle_test_data() with `look`, so that digests of test data can be compared.
ReadGroups read_groups(const std::vector<std::filesystem::path>& paths, const LookAtTestData& look = {});

/// Groups runs that have been read. If two runs have the same recipe and seed, the second run begins a new group.
std::vector<RunGroup> grouped(std::vector<RunRecord> runs);

}  // namespace cachet::tasks
