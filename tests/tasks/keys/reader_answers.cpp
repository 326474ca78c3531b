#include "tests/tasks/keys/reader_answers.h"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

#include "cachet/config/problem.h"
#include "cachet/tasks/recipe.h"
#include "tests/tasks/keys/child.h"

namespace cachet::test {

std::string complaint_of(const KeyFamily& family, const Settings& settings, const std::string& key) {
  try {
    config::Document document = document_of(family, settings);
    tasks::read_recipe(document);
  } catch (const config::Error& error) {
    for (const config::Problem& problem : error.problems())
      if (problem.key == key) return problem.message;
  }
  return "";
}

bool accepts(const KeyFamily& family, const Settings& settings) {
  try {
    config::Document document = document_of(family, settings);
    tasks::read_recipe(document);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Settings with(Settings settings, const std::string& key, const std::string& value) {
  settings.push_back(key + "=" + value);
  return settings;
}

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  size_t first = 0;
  for (size_t end = text.find(between); end != std::string::npos; end = text.find(between, first)) {
    parts.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  if (first < text.size()) parts.push_back(text.substr(first));
  return parts;
}

std::string answer_of(const KeyFamily& family, const std::string& what, const std::function<std::string()>& work) {
  data_of(family);
  const ChildOutcome outcome =
      in_child(work, {.processor_time = std::chrono::seconds(60), .time = std::chrono::seconds(300)});
  if (outcome.end != ChildOutcome::End::done)
    throw std::runtime_error(family.name + ", " + what + ": the reader failed: " + outcome.ending + outcome.printed);
  return outcome.text;
}

}  // namespace cachet::test
