#include "cachet/tasks/runs/differences.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "cachet/analysis/statistics.h"
#include "cachet/report/format.h"
#include "cachet/tasks/runs/conditions.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMostSentences = 3;

/// Half of the interval that holds 95 % of the differences between means of equal recipes.
double welch_bound(const Contender& left, const Contender& right) {
  const auto n = static_cast<double>(left.seeds), m = static_cast<double>(right.seeds);
  const double a = left.value.spread * left.value.spread / n, b = right.value.spread * right.value.spread / m;
  if (a + b == 0) return 0;
  const double degrees = (a + b) * (a + b) / (a * a / (n - 1) + b * b / (m - 1));
  return analysis::student_t(degrees) * std::sqrt(a + b);
}

/// Half of the interval that holds 95 % of the differences between one more seed and the mean of these.
double one_more_bound(const Contender& seeds) {
  const auto n = static_cast<double>(seeds.seeds);
  return analysis::student_t(n - 1) * seeds.value.spread * std::sqrt(1 + 1 / n);
}

std::optional<std::string> verdict(const Contender& first, const Contender& other, double gap) {
  if (first.seeds > 1 || other.seeds > 1) {
    const double bound = first.seeds == 1   ? one_more_bound(other)
                         : other.seeds == 1 ? one_more_bound(first)
                                            : welch_bound(first, other);
    return std::string(gap > bound ? "more" : "no more") + " than seeds explain (± " + gap_text(first.value, bound) +
           " at 95 %)";
  }
  if (!std::isfinite(first.value.spread) || !std::isfinite(other.value.spread)) return std::nullopt;
  const double error = std::hypot(first.value.spread, other.value.spread);
  return std::string(gap > 2 * error ? "more" : "no more") + " than twice the standard error of " +
         gap_text(first.value, error);
}

}  // namespace

std::string gap_text(const RunValue& value, double gap) {
  if (value.form == report::ValueForm::percent) return report::format_fixed(100 * gap, 1);
  return value.form == report::ValueForm::fixed ? report::format_fixed(gap, 3) : report::format_number(gap, 3);
}

std::vector<Contender> contenders(const std::vector<RunGroup>& groups) {
  std::vector<Contender> all;
  for (const RunGroup& group : groups) {
    if (!is_ranked(group, groups)) continue;
    const std::vector<RunValue> values = group_values(group);
    const auto decides = std::ranges::find(values, true, &RunValue::decides);
    if (decides == values.end()) continue;
    // A group of which one run alone is counted has no deviation.
    all.push_back({group.title(), *decides, group.has_seeds() ? std::max<size_t>(1, group.counted().size()) : 1});
  }
  return all;
}

std::vector<Difference> differences(const std::vector<Contender>& all) {
  std::vector<Difference> found;
  for (size_t i = 1; i < all.size(); ++i) {
    const Contender &first = all.front(), &other = all[i];
    if (other.value.name != first.value.name) continue;
    const double gap = other.value.value - first.value.value;
    const std::optional<std::string> chance = verdict(first, other, std::abs(gap));
    if (!chance) continue;
    const std::string unit = first.value.form == report::ValueForm::percent ? " points " : " ";
    found.push_back(
        {other.name, first.name, gap_text(first.value, std::abs(gap)) + unit + (gap < 0 ? "below" : "above"), *chance});
  }
  return found;
}

std::string difference_sentences(const std::vector<Difference>& all) {
  std::string text;
  if (all.size() > kMostSentences) return text;
  for (const Difference& each : all)
    text += (text.empty() ? "" : " ") + each.name + " is " + each.gap + " " + each.from + ", " + each.chance + ".";
  return text;
}

report::Table difference_table(const std::vector<Difference>& all) {
  report::Table table{all.empty() ? "" : "Beside " + all.front().from, {{"run"}, {"difference"}, {"which is"}}, {}, ""};
  if (all.size() <= kMostSentences) return table;
  for (const Difference& each : all) table.rows.push_back({each.name, each.gap, each.chance});
  return table;
}

}  // namespace cachet::tasks
