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

/// Whether a key stores the class names. Runs of version 0.1.0 do not store class names; in comparisons with such runs,
/// the missing key does not count as a difference.
inline bool names_classes(const std::string& key) {
  return key == "data.class_names" || key == "data.other_categories";
}

/// Whether a run had several evaluations, so that its best checkpoint was chosen by comparing them.
bool has_choice(const std::vector<train::Event>& events);

/// The record of a run in its folder.
struct RunRecord {
  std::filesystem::path path;          // canonical path, which has a name even for "." and links
  std::string id;                      // "1f0c…", independent of the name of its folder
  std::string name;                    // its name in tables: "20261121-demo", "my-seeds/seed-0"
  std::string recipe_name;             // name of the recipe, from the recipe's file; empty if the folder lacks it
  train::RecipeValues recipe;          // all resolved values of the recipe
  std::set<std::string> default_keys;  // keys that the recipe left to their defaults
  std::string commit, device;          // commit and device in the last training ("2 threads of AMD EPYC 9B14")
  int64_t processes = 0;               // number of processes of the last training; 0 if the folder does not have it
  std::string created;                 // 2026-11-21T20:43:45Z
  std::optional<train::Status> status;
  std::vector<train::Event> events;
  int64_t unreadable_lines = 0;  // metrics.jsonl lines without events; an incomplete last line does not count
  train::RunDescription description;
  std::map<std::string, train::RunFolder::SavedDigest> data;  // digests by split; empty if the run lacks them

  std::string seed() const;  // text of the seed in the recipe
  int64_t last_step() const { return events.empty() ? 0 : events.back().step; }
  /// Whether the run ended as planned. If the folder has no status of the run, returns true.
  bool is_over() const;
  /// Whether a test of the run reports results on the same data on which the best checkpoint was chosen.
  bool reports_choice() const { return description.reports_choice && has_choice(events); }
  /// Whether the run ended by an error, or by a value that is not finite.
  bool has_failed() const;
};

/// Reads a run. Throws std::runtime_error if the folder is not a run. If the run has no description because an early
/// version began it, computes the description from the recipe by the current rules; throws config::Error if the recipe
/// can no longer be read. If the multiply–accumulates of the run were counted by an earlier rule, they are counted
/// again from the run's recipe. If the multiply–accumulates cannot be counted, the record of the run lacks them.
RunRecord read_run(const std::filesystem::path& run);

}  // namespace cachet::tasks
