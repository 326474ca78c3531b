#include "cachet/train/runs/paper_rows.h"

#include <algorithm>
#include <array>
#include <regex>
#include <string_view>
#include <utility>

#include "cachet/config/utf8.h"

namespace cachet::train {
namespace {

constexpr const char* kTable = "paper";
constexpr std::string_view kPaperPrefix = "paper.";
constexpr size_t kMaxNamed = 8;

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTitles{
    {{"2208.01313", "Unified Normalization"},
     {"2211.04076", "Trainable feed-forward kernels"},
     {"2312.12742", "Cached Transformers"}}};

/// Keys that do not make another experiment: with what means a run is trained, what it logs and saves, and where its
/// data and its first weights lie.
constexpr std::array<std::string_view, 23> kOfTheRunAlone{"train.seed",
                                                          "train.device",
                                                          "train.threads",
                                                          "train.deterministic",
                                                          "train.graph",
                                                          "train.log_every",
                                                          "train.tensorboard",
                                                          "train.normality_passes",
                                                          "train.profile",
                                                          "train.evaluate_every",
                                                          "train.checkpoint_every",
                                                          "train.save_minutes",
                                                          "train.keep",
                                                          "train.max_hours",
                                                          "train.init",
                                                          "data.root",
                                                          "data.train_folder",
                                                          "data.validation_folder",
                                                          "data.train_annotations",
                                                          "data.train_images",
                                                          "data.validation_annotations",
                                                          "data.validation_images",
                                                          "data.strict_images"};

bool makes_another_experiment(const std::string& key) {
  if (is_of_paper(key) || std::ranges::find(kOfTheRunAlone, key) != kOfTheRunAlone.end()) return false;
  return !key.ends_with(".workers") && !key.ends_with(".prefetch");
}

bool is_empty(const config::View& view) {
  constexpr std::array kKeys{"arxiv", "row", "value", "runs", "differs", "changed"};
  return std::ranges::none_of(kKeys, [&](const char* key) { return view.has(key); });
}

bool is_written(const config::Origin& origin) { return origin.line > 0 || origin.source == config::kSetSource; }

/// Texts of one line each. Another one is a problem with its key.
std::vector<std::string> lines(const config::View& view, const char* key) {
  std::vector<std::string> texts = view.texts(key, {});
  const auto is_line = [](const std::string& text) { return !text.empty() && text == config::visible(text, ""); };
  if (!std::ranges::all_of(texts, is_line))
    view.problem(key, "must not have an empty text or a text with several lines");
  return texts;
}

std::vector<std::string> required_lines(const config::View& view, const char* key, const std::string& example) {
  std::vector<std::string> texts = lines(view, key);
  if (!view.has(key))
    view.problem(key, "is required in [paper], such as " + example);
  else if (texts.empty())
    view.problem(key, "must have a text, such as " + example);
  return texts;
}

void require_numbers(const config::View& view, const std::vector<std::string>& arxiv) {
  static const std::regex number("[0-9]{4}\\.[0-9]{4,5}(v[0-9]+)?");
  for (const std::string& text : arxiv)
    if (!std::regex_match(text, number))
      view.problem("arxiv", "must be the number of an arXiv paper, such as \"2312.12742\", not \"" + text + "\"");
}

}  // namespace

std::optional<PaperRows> read_paper_rows(const config::View& root) {
  if (!root.has(kTable)) return std::nullopt;
  const config::View view = root.table(kTable);
  if (is_empty(view)) return std::nullopt;
  const std::vector<std::string> arxiv = required_lines(view, "arxiv", "\"2312.12742\""),
                                 row = required_lines(view, "row", "\"Table 1, PVT-Tiny (Cached)\""),
                                 value = required_lines(view, "value", "\"78.4 % top-1\"");
  PaperRows rows;
  rows.runs = view.integer("runs", rows.runs, {.least = 1, .most = 1000});
  rows.differs = lines(view, "differs");
  require_numbers(view, arxiv);
  if (arxiv.empty() || row.empty() || value.empty()) return rows;
  const auto count = [](const std::vector<std::string>& list) { return std::to_string(list.size()); };
  if (value.size() != row.size()) {
    view.problem("value", "must have as many texts as paper.row, " + count(row) + ", but has " + count(value));
    return rows;
  }
  if (arxiv.size() != 1 && arxiv.size() != row.size()) {
    view.problem("arxiv", "must have one number, or as many numbers as paper.row has texts, " + count(row) +
                              ", but has " + count(arxiv));
    return rows;
  }
  for (size_t i = 0; i < row.size(); ++i) rows.rows.push_back({arxiv[arxiv.size() == 1 ? 0 : i], row[i], value[i]});
  return rows;
}

std::vector<std::string> read_changed_keys(const config::View& root) { return lines(root.table(kTable), "changed"); }

std::optional<PaperRows> paper_rows_of(const RecipeValues& values) {
  config::Document document;
  for (const auto& [key, value] : values)
    if (is_of_paper(key)) document.set(key + "=" + value);
  std::optional<PaperRows> rows = read_paper_rows(document.root());
  if (rows) rows->changed = read_changed_keys(document.root());
  return rows;
}

bool is_of_paper(const std::string& key) { return key.starts_with(kPaperPrefix); }

std::vector<std::string> keys_changed_from(const SpreadRecipe& row, const SpreadRecipe& now) {
  RecipeValues before = recipe_values(row.document), values = recipe_values(now.document);
  const RecipeValues as_read = values;
  // The spread is left out only if both recipes cut steps into parts.
  const bool compares_parts = has_parts(before) && has_parts(values);
  if (compares_parts) {
    before = values_of_experiment(before, row.processes);
    values = values_of_experiment(values, now.processes);
  }
  const auto differs = [&](const std::string& key) {
    const auto was = before.find(key), is = values.find(key);
    return is != values.end() && (was == before.end() || was->second != is->second);
  };
  const std::vector<config::Document::Value> resolved = now.document.resolved();
  const bool is_spread_written = compares_parts && std::ranges::any_of(resolved, [&](const auto& value) {
                                   return is_written(value.origin) && is_of_spread(value.key, as_read);
                                 });
  std::vector<std::string> changed;
  for (const config::Document::Value& value : resolved) {
    const bool counts = is_written(value.origin) || (is_spread_written && is_of_spread(value.key, as_read));
    if (counts && makes_another_experiment(value.key) && differs(value.key)) changed.push_back(value.key);
  }
  if (compares_parts && differs(kPartsOfStep)) changed.emplace_back(kPartsOfStep);
  return changed;
}

std::string paper_title(const std::string& arxiv) {
  const auto* found = std::ranges::find_if(kTitles, [&](const auto& title) { return arxiv.starts_with(title.first); });
  if (found == kTitles.end()) return "arXiv " + arxiv;
  return std::string(found->second) + " (arXiv " + arxiv + ")";
}

std::string paper_row_text(const PaperRow& row) { return paper_title(row.arxiv) + ", " + row.row + ": " + row.value; }

std::optional<std::string> several_runs_text(const PaperRows& rows) {
  if (rows.runs == 1) return std::nullopt;
  const std::string count = std::to_string(rows.runs);
  return "The mean of " + count + " runs: --seeds " + count;
}

std::optional<std::string> changed_keys_text(const PaperRows& rows) {
  const size_t count = rows.changed.size();
  if (count == 0) return std::nullopt;
  std::string names;
  for (size_t i = 0; i < std::min(count, kMaxNamed); ++i) names += (i > 0 ? ", " : "") + rows.changed[i];
  if (count > kMaxNamed) names += " and " + std::to_string(count - kMaxNamed) + " more keys";
  return "This experiment differs from the paper's: " + names + (count == 1 ? " is changed" : " are changed");
}

}  // namespace cachet::train
