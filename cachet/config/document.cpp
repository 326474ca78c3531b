#include "cachet/config/document.h"

#include <utility>

#include "cachet/config/document_state.h"
#include "cachet/config/merge.h"
#include "cachet/config/recipe_file.h"
#include "cachet/config/set_option.h"
#include "cachet/config/toml_parser.h"
#include "cachet/config/unknown_keys.h"
#include "cachet/config/view.h"

namespace cachet::config {

Document::Document() : state_(std::make_shared<State>()) {}
Document::~Document() = default;
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;

Document Document::from_file(const std::filesystem::path& path) {
  Document document;
  document.state_->root = read_recipe(path);
  document.state_->root.table()->erase("sweep");  // says which runs are made of the recipe, and is no part of it
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
    throw Error({Problem{base->origin, "base", "only a recipe that is a file can have a base"}});
  }
  return document;
}

void Document::set(std::string_view assignment, std::string_view source) {
  merge_over(state_->root, parse_assignment(assignment, source));
}

void Document::set_default(std::string_view assignment) {
  merge_over(state_->earlier_defaults, parse_assignment(assignment));
}

View Document::root() { return View(state_, ""); }

void Document::problem(const std::string& key, const std::string& message) { state_->add_problem(key, message); }

std::vector<std::string> Document::notes() const { return state_->notes; }

void Document::finish() {
  std::vector<Problem> problems = state_->problems;
  std::vector<Problem> unknown = unknown_keys(*state_);
  problems.insert(problems.end(), std::make_move_iterator(unknown.begin()), std::make_move_iterator(unknown.end()));
  std::erase_if(problems, [&](const Problem& problem) { return state_->may_follow(problem); });
  if (!problems.empty()) throw Error(std::move(problems));
}

std::vector<Document::Value> Document::resolved() const { return state_->values; }

}  // namespace cachet::config
