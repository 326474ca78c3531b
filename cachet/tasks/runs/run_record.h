#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/training_task.h"

namespace cachet::tasks {

inline constexpr const char* kSeedKey = "train.seed";

/// Whether a key has the names of the classes. Runs of version 0.1.0 do not have it, and are compared as if they
/// had.
inline bool names_classes(const std::string& key) {
  return key == "data.class_names" || key == "data.other_categories";
}

/// Whether a run had several evaluations, one of which chose its best checkpoint.
bool has_choice(const std::vector<train::Event>& events);

/// The record of a run in its folder.
struct RunRecord {
  std::filesystem::path path;          // canonical: "." and links have names then
  std::string id;                      // "1f0c…", whatever its folder is called
  std::string name;                    // as tables call it: "20261121-demo", "my-seeds/seed-0"
  std::string recipe_name;             // of the recipe's file; empty if the folder does not have it
  train::RecipeValues recipe;          // every resolved value
  std::set<std::string> default_keys;  // of those that nobody wrote
  std::string commit, device;          // of the program that trained it last; "2 threads of AMD EPYC 9B14"
  int64_t processes = 0;               // that trained it together, last; 0 if the folder does not have it
  std::string created;                 // 2026-11-21T20:43:45Z
  std::optional<train::Status> status;
  std::vector<train::Event> events;
  int64_t unreadable_lines = 0;  // of metrics.jsonl, whose events are missing here; not one that is being written
  train::RunDescription description;
  std::map<std::string, train::RunFolder::SavedDigest> data;  // of the data, by split; empty if the run does not know

  std::string seed() const;  // as the recipe has it
  int64_t last_step() const { return events.empty() ? 0 : events.back().step; }
  /// Whether it has ended as planned. A run whose folder does not report this counts as ended.
  bool is_over() const;
  /// Whether its best checkpoint was chosen on the data that a test of it reports.
  bool reports_choice() const { return description.reports_choice && has_choice(events); }
  /// Whether it ended by an error, or by a value that is not finite.
  bool has_failed() const;
};

/// Throws std::runtime_error for a folder that is not a run. A run that began before runs described themselves is
/// described from
/// its recipe, as it is read now: config::Error where it cannot be read any more. A run whose multiply–accumulates were
/// counted by an earlier rule is counted again from its recipe; it has none if that cannot be done.
RunRecord read_run(const std::filesystem::path& run);

}  // namespace cachet::tasks
