#include "cachet/config/document.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "cachet/config/document_state.h"
#include "cachet/config/merge.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/set_option.h"
#include "cachet/config/toml_parser.h"
#include "cachet/config/unknown_keys.h"
#include "cachet/config/view.h"

namespace cachet::config {

namespace {

/// A key whose value is a duration of training.
struct DurationKey {
  std::string_view table, key;
  bool counts_steps = true;  // whether a number without a unit is a number of steps; otherwise it is an error
};

/// Other programs count warm-ups and milestones in epochs, so these need a unit.
constexpr std::array<DurationKey, 6> kDurationKeys{{{"train", "limit"},
                                                    {"train", "log_every"},
                                                    {"train", "evaluate_every"},
                                                    {"train", "checkpoint_every"},
                                                    {"schedule", "warmup", false},
                                                    {"schedule", "milestones", false}}};

void name_unit(Node& node, bool counts_steps) {
  if (const auto* count = std::get_if<int64_t>(&node.value)) {
    std::string text = std::to_string(*count);
    if (counts_steps) text += *count == 1 ? " step" : " steps";
    node.value = std::move(text);
  } else if (auto* list = std::get_if<List>(&node.value)) {
    for (Node& item : *list) name_unit(item, counts_steps);
  }
}

/// Makes texts of the numbers that are durations, so that one reader reads them.
void name_units(Node& root) {
  for (const DurationKey& duration : kDurationKeys) {
    const auto around = root.table()->find(duration.table);
    if (around == root.table()->end() || around->second.table() == nullptr) continue;
    const auto node = around->second.table()->find(duration.key);
    if (node != around->second.table()->end()) name_unit(node->second, duration.counts_steps);
  }
}

/// A wrong name decides which keys its table seems to have: what else seems wrong with the table, and with tables below
/// it, may come from that, and is left out.
void leave_out_consequences(std::vector<Problem>& problems) {
  constexpr std::string_view kName = ".name";
  std::vector<std::string> tables;
  for (const Problem& problem : problems)
    if (problem.key.ends_with(kName)) tables.push_back(problem.key.substr(0, problem.key.size() - kName.size()) + ".");
  std::erase_if(problems, [&](const Problem& problem) {
    return !problem.key.ends_with(kName) &&
           std::ranges::any_of(tables, [&](const std::string& table) { return problem.key.starts_with(table); });
  });
}

}  // namespace

Document::Document() : state_(std::make_shared<State>()) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Document Document::from_file(const std::filesystem::path& path) {
  Document document;
  document.state_->root = read_recipe(path);
  document.state_->root.table()->erase("sweep");  // lists runs to make from the recipe, and is not a part of it
  return document;
}

Document Document::from_text(std::string_view text, std::string_view source) {
  const std::string name(source);
  if (text.size() > static_cast<size_t>(kMaxRecipeBytes)) {
    throw Error({Problem{Origin{name, 0}, "", "is larger than " + std::to_string(kMaxRecipeBytes) + " bytes"}});
  }
  Document document;
  document.state_->root = parse_toml(text, name);
  if (const Node* base = find(document.state_->root, "base")) {
    throw Error({Problem{base->origin, "base", "only the file of a recipe can have a base"}});
  }
  return document;
}

void Document::set(std::string_view assignment, std::string_view source) {
  merge_over(state_->root, parse_assignment(assignment, source));
}

void Document::set_default(std::string_view assignment) {
  merge_over(state_->earlier_defaults, parse_assignment(assignment));
}

void Document::settle(std::string_view assignment, std::string_view source) {
  set(assignment, source);
  const std::string key(assignment.substr(0, assignment.find('=')));
  const auto place = state_->positions.find(key);
  if (place == state_->positions.end()) return;
  Value& value = state_->values[place->second];
  value.toml = assignment.substr(key.size() + 1);
  value.origin = {std::string(source), 0};
}

View Document::root() {
  name_units(state_->root);
  return View(state_, "");
}

void Document::problem(const std::string& key, const std::string& message) { state_->add_problem(key, message); }

std::vector<std::string> Document::notes() const { return state_->notes; }

void Document::finish() {
  std::vector<Problem> problems = state_->problems;
  std::vector<Problem> unknown = unknown_keys(*state_);
  problems.insert(problems.end(), std::make_move_iterator(unknown.begin()), std::make_move_iterator(unknown.end()));
  leave_out_consequences(problems);
  if (!problems.empty()) throw Error(std::move(problems));
}

std::vector<Document::Value> Document::resolved() const { return state_->values; }

}  // namespace cachet::config
