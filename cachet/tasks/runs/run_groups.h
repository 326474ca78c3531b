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

/// Runs whose recipes differ in nothing but train.seed, each with another seed, and whose data are not known to differ;
/// or a run alone.
struct RunGroup {
  std::string name;               // "demo", or the run's
  std::vector<RunRecord> runs;    // at least one
  std::vector<uint64_t> missing;  // seeds of its folder whose run has not begun

  std::string title() const;  // "demo (3 seeds)", "demo (2 of 3 seeds)" if two are counted, or the run's name
  bool has_seeds() const { return runs.size() + missing.size() > 1; }
  /// Those that its means count: the ones that are over, or where none is, those that were evaluated, or else all.
  std::vector<const RunRecord*> counted() const;
  /// How many of its runs have failed. Its means are not compared as a result then.
  size_t failed() const;
  /// Whether all of counted() are over: only then it is compared with others as a result.
  bool is_over() const;

  /// What group_values() has computed. A group does not change after it was asked for its values.
  mutable std::shared_ptr<const std::vector<RunValue>> values{};
};

struct ReadGroups {
  std::vector<RunGroup> groups;
  std::vector<std::string> unreadable;  // a line for each run that could not be read: which, and why
};

/// Reads runs and folders of runs or seeds, which count as their runs, and groups them in the order in which they come.
/// A run that is named twice counts once. If not even one can be read, throws std::runtime_error with all lines.
/// `look`, if there is one, settles whether test data are the same (settle_test_data).
ReadGroups read_groups(const std::vector<std::filesystem::path>& paths, const LookAtTestData& look = {});

/// The same of runs that were read. Of two runs with one recipe and one seed the second begins a group of its own.
std::vector<RunGroup> grouped(std::vector<RunRecord> runs);

}  // namespace cachet::tasks
