#include "cachet/config/near_names.h"

#include <algorithm>
#include <tuple>

namespace cachet::config {
namespace {

constexpr size_t kLongestName = 80;  // beyond it nothing was mistyped, and the table of distances would grow
constexpr size_t kMinPrefix = 3;
constexpr size_t kMinSlip = 6;  // shorter words are near too many names

/// Capitals and hyphens are how people write the same word.
std::string folded(std::string_view name) {
  std::string result(name);
  for (char& c : result) c = c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

/// Optimal string alignment: insertions, deletions, substitutions, and swaps of neighbours, each at a cost of 1.
size_t distance(std::string_view a, std::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> rows(3 * width);
  const auto cell = [&](size_t i, size_t j) -> size_t& { return rows[(i % 3) * width + j]; };
  for (size_t j = 0; j < width; ++j) cell(0, j) = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    cell(i, 0) = i;
    for (size_t j = 1; j < width; ++j) {
      const size_t substitution = cell(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, substitution});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cell(a.size(), b.size());
}

/// Whether the first words of a name, up to a '_', are one slip away from what was typed.
bool begins_with_slip(std::string_view name, std::string_view wanted) {
  for (size_t end = name.find('_'); end != std::string_view::npos; end = name.find('_', end + 1))
    if (distance(wanted, name.substr(0, end)) == 1) return true;
  return false;
}

}  // namespace

std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known, size_t most) {
  if (typed.empty() || typed.size() > kLongestName) return {};
  const std::string wanted = folded(typed);
  // By distance; the longer names that a beginning stands for come after the misspelled ones.
  std::vector<std::tuple<bool, size_t, size_t>> candidates;
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i].empty() || known[i].size() > kLongestName) continue;
    const std::string name = folded(known[i]);
    const size_t apart = distance(wanted, name);
    const size_t allowed = std::max(wanted.size(), name.size()) / 3;
    const bool begins = wanted.size() >= kMinPrefix && name.starts_with(wanted);
    if (apart <= allowed || begins) candidates.emplace_back(apart > allowed, apart, i);
  }
  const bool has_slip = std::ranges::any_of(candidates, [](const auto& each) { return std::get<1>(each) <= 1; });
  for (size_t i = 0; !has_slip && wanted.size() >= kMinSlip && i < known.size(); ++i)
    if (known[i].size() <= kLongestName && begins_with_slip(folded(known[i]), wanted))
      candidates.emplace_back(false, 1, i);
  std::ranges::sort(candidates);
  std::vector<std::string> names;
  for (const auto& [prefix, apart, index] : candidates) {
    if (names.size() == most) break;
    if (std::ranges::find(names, known[index]) == names.end()) names.push_back(known[index]);
  }
  return names;
}

std::string suggestion(std::string_view typed, std::span<const std::string> known) {
  return did_you_mean(near_names(typed, known));
}

std::string did_you_mean(std::span<const std::string> names) {
  if (names.empty()) return "";
  std::string text = " (did you mean ";
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += '\'' + names[i] + '\'';
  }
  return text + "?)";
}

}  // namespace cachet::config
