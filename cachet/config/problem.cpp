#include "cachet/config/problem.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "cachet/config/utf8.h"

namespace cachet::config {
namespace {

std::vector<Problem> in_order(std::vector<Problem> problems) {
  const auto place = [](const Problem& problem) {
    const std::string& source = problem.origin.source;
    const int group = source == kDefaultSource ? 2 : source == kSetSource ? 1 : 0;
    return std::tuple<int, std::string_view, int64_t>(group, source, problem.origin.line);
  };
  std::ranges::stable_sort(problems, [&](const Problem& a, const Problem& b) { return place(a) < place(b); });
  return problems;
}

std::string lines(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += problem.origin.text() + ": ";
    if (!problem.key.empty()) text += problem.key + ": ";
    text += problem.message;
  }
  return text;
}

}  // namespace

std::string Origin::text() const {
  const std::string name = printable(source);
  return line > 0 ? name + ':' + std::to_string(line) : name;
}

Error::Error(std::vector<Problem> problems)
    : std::runtime_error(lines(problems = in_order(std::move(problems)))), problems_(std::move(problems)) {}

}  // namespace cachet::config
