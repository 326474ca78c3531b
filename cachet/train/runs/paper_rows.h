#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/config/view.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::train {

/// A row of a paper's table that a recipe trains.
struct PaperRow {
  std::string arxiv;  // the paper's number: "2312.12742"
  std::string row;    // "Table 1, PVT-Tiny (Cached)"
  std::string value;  // as the paper has it: "78.4 % top-1"
};

/// The table [paper] of a recipe. It changes nothing of what is trained.
struct PaperRows {
  std::vector<PaperRow> rows;
  int64_t runs = 1;                  // of which the values are means
  std::vector<std::string> differs;  // sentences: how the recipe differs from what the paper did
  std::vector<std::string> changed;  // keys whose values are not those of the recipe that has the table
};

/// The table of the root of a recipe; nothing if it is not written, or is empty: a recipe without a row can thus drop
/// that of its base. `changed` is empty: read_changed_keys() reads it.
std::optional<PaperRows> read_paper_rows(const config::View& root);

/// The key `paper.changed`, which Cachet itself writes.
std::vector<std::string> read_changed_keys(const config::View& root);

/// The whole table of a recipe that was read; nothing if it has none.
std::optional<PaperRows> paper_rows_of(const RecipeValues& values);

/// Whether a key is of [paper]. Such keys describe the paper's row and do not affect the computation.
bool is_of_paper(const std::string& key);

/// A recipe that was read, and how many processes train it together.
struct SpreadRecipe {
  const config::Document& document;
  int64_t processes = 1;
};

/// The keys of an experiment whose values a user wrote and that `row` has not, or has with other values. Seed, device,
/// threads, loader, paths of data and first weights, log and checkpoints do not make another experiment. If parts have
/// states of their own, the same parts in another spread over processes and micro-batches do not either
/// (values_of_experiment()), and another number of parts is kPartsOfStep.
std::vector<std::string> keys_changed_from(const SpreadRecipe& row, const SpreadRecipe& now);

/// "Cached Transformers (arXiv 2312.12742)"; "arXiv NUMBER" for a paper that Cachet does not know.
std::string paper_title(const std::string& arxiv);

/// "Cached Transformers (arXiv 2312.12742), Table 1, PVT-Tiny (Cached): 78.4 % top-1".
std::string paper_row_text(const PaperRow& row);

/// "The mean of 5 runs: --seeds 5"; nothing if the values are of one run.
std::optional<std::string> several_runs_text(const PaperRows& rows);

/// One line that names the changed keys, of which it lists a few; nothing if there are none.
std::optional<std::string> changed_keys_text(const PaperRows& rows);

}  // namespace cachet::train
