#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// A row of a paper's table that a recipe reproduces.
struct PaperRow {
  std::string arxiv;  // the paper's arXiv number: "2312.12742"
  std::string row;    // "Table 1, PVT-Tiny (Cached)"
  std::string value;  // the paper's value: "78.4 % top-1"
};

/// The table [paper] of a recipe, which does not affect the training.
struct PaperRows {
  std::vector<PaperRow> rows;
  int64_t runs = 1;                  // number of runs whose mean is the paper's value
  std::vector<std::string> differs;  // sentences about the differences between the recipe and the paper's training
  std::vector<std::string> changed;  // keys whose values differ from the recipe with this table
};

/// Reads the table [paper] of a recipe. If the table [paper] is missing or empty, returns std::nullopt. With an empty
/// table [paper], a recipe drops the rows of its base recipe. Leaves PaperRows::changed empty, because only
/// read_changed_keys() reads the key `paper.changed`.
std::optional<PaperRows> read_paper_rows(const config::View& root);

/// Reads the key `paper.changed`, which only Cachet itself writes.
std::vector<std::string> read_changed_keys(const config::View& root);

/// Returns the whole table [paper] from the values of a recipe, or std::nullopt if the recipe has no such table.
std::optional<PaperRows> paper_rows_of(const RecipeValues& values);

/// Whether a key belongs to [paper]. The keys of [paper] describe the row of a paper, and do not affect the
/// computation.
bool is_of_paper(const std::string& key);

/// The values of a recipe, and the number of processes that train it together.
struct SpreadRecipe {
  const config::Document& document;
  int64_t processes = 1;
};

/// Returns the keys that a user wrote in `now`, and for which `row` has another value or none. Does not compare the
/// keys for the seed, the device, threads, the loader, paths of data and initial weights, the log and checkpoints. If
/// parts of a step have their own states, ignores how parts are distributed over processes and micro-batches
/// (values_of_experiment()). If `row` and `now` differ in the number of parts of a step, the result has kPartsOfStep.
std::vector<std::string> keys_changed_from(const SpreadRecipe& row, const SpreadRecipe& now);

/// Returns "Cached Transformers (arXiv 2312.12742)", or "arXiv NUMBER" for a paper that is unknown to Cachet.
std::string paper_title(const std::string& arxiv);

/// Returns "Cached Transformers (arXiv 2312.12742), Table 1, PVT-Tiny (Cached): 78.4 % top-1".
std::string paper_row_text(const PaperRow& row);

/// Returns "The mean of 5 runs: --seeds 5", or std::nullopt if the paper's values are from one run.
std::optional<std::string> several_runs_text(const PaperRows& rows);

/// Returns one line that names some of the changed keys, or std::nullopt if no keys changed.
std::optional<std::string> changed_keys_text(const PaperRows& rows);

}  // namespace cachet::train
