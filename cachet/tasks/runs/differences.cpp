#include "cachet/tasks/runs/differences.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/report/format.h"
#include "cachet/tasks/runs/conditions.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMaxSentences = 3;

using Verdict = Difference::Verdict;

struct Judgement {
  Verdict verdict = Verdict::none;
  std::string reason;
};

Judgement none(const std::string& why) { return {Verdict::none, why}; }

Judgement held_to(double gap, double bound, const std::string& what) {
  return {gap > bound ? Verdict::more : Verdict::no_more, what};
}

Judgement judged_by_seeds(const Contender& first, const Contender& other, double gap) {
  if (*first.seeds < 2 || *other.seeds < 2) return none("each of the two results needs two or more seeds");
  if (first.value.spread == 0 && other.value.spread == 0) return none("the two results do not vary over their seeds");
  const double bound = analysis::welch_bound({first.value.value, first.value.spread, *first.seeds},
                                             {other.value.value, other.value.spread, *other.seeds});
  return held_to(gap, bound, "seeds explain (± " + gap_text(first.value, bound) + " at 95 %)");
}

Judgement judged_by_samples(const Contender& first, const Contender& other, double gap) {
  if (!std::isfinite(first.value.spread) || !std::isfinite(other.value.spread))
    return none("each of the two results needs a standard error");
  const double error = std::hypot(first.value.spread, other.value.spread);
  if (error == 0) return none("the standard errors are 0");
  return held_to(gap, 2 * error, "twice the standard error of " + gap_text(first.value, error));
}

Judgement judged(const Contender& first, const Contender& other, double gap) {
  if (first.seeds && other.seeds) return judged_by_seeds(first, other, gap);
  if (first.seeds || other.seeds) return none("each of the two results needs two or more seeds");
  return judged_by_samples(first, other, gap);
}

Difference difference_between(const Contender& first, const Contender& other) {
  Difference difference{other.name, first.name};
  for (const Contender* each : {&first, &other})
    if (!std::isfinite(each->value.value)) {
      difference.reason = each->value.name + " of " + each->name + " is not a number";
      return difference;
    }
  const double gap = other.value.value - first.value.value;
  const std::string unit = first.value.form == report::ValueForm::percent ? " points " : " ";
  difference.gap = gap_text(first.value, std::abs(gap)) + unit + (gap < 0 ? "below" : "above");
  Judgement found = judged(first, other, std::abs(gap));
  difference.verdict = found.verdict;
  difference.reason = std::move(found.reason);
  return difference;
}

bool has_verdict(const Difference& difference) { return difference.verdict != Verdict::none; }

std::string sentence_of(const Difference& each) {
  if (each.gap.empty()) return each.name + " and " + each.from + ": " + each.verdict_text() + ".";
  const std::string gap = each.name + " is " + each.gap + " " + each.from;
  return gap + (has_verdict(each) ? ", " + each.verdict_text() : " (" + each.verdict_text() + ")") + ".";
}

}  // namespace

std::string Difference::verdict_text() const {
  if (verdict == Verdict::none) return "no verdict: " + reason;
  return (verdict == Verdict::more ? "more than " : "no more than ") + reason;
}

std::string gap_text(const RunValue& value, double gap) {
  if (value.form == report::ValueForm::percent) return report::format_fixed(100 * gap, 1);
  return value.form == report::ValueForm::fixed ? report::format_fixed(gap, 3) : report::format_number(gap, 3);
}

std::vector<Contender> contenders(const std::vector<RunGroup>& groups) {
  std::vector<Contender> all;
  for (const RunGroup& group : groups) {
    if (!is_ranked(group, groups)) continue;
    const std::vector<RunValue>& values = group_values(group);
    const auto decides = std::ranges::find(values, true, &RunValue::decides);
    if (decides == values.end()) continue;
    all.push_back(
        {group.title(), *decides, group.has_seeds() ? std::optional(group.counted().size()) : std::optional<size_t>()});
  }
  return all;
}

std::vector<Difference> differences(const std::vector<Contender>& all) {
  std::vector<Difference> found;
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].value.name == all.front().value.name) found.push_back(difference_between(all.front(), all[i]));
  return found;
}

std::string difference_sentences(const std::vector<Difference>& all) {
  std::string text;
  if (all.size() > kMaxSentences) return text;
  for (const Difference& each : all) text += (text.empty() ? "" : " ") + sentence_of(each);
  if (std::ranges::count_if(all, has_verdict) > 1) text += std::string(" ") + kNotCorrected;
  return text;
}

report::Table difference_table(const std::vector<Difference>& all) {
  report::Table table{
      all.empty() ? "" : "Compared with " + all.front().from, {{"run"}, {"difference"}, {"verdict"}}, {}, ""};
  if (all.size() <= kMaxSentences) return table;
  for (const Difference& each : all)
    table.rows.push_back({each.name, each.gap.empty() ? "–" : each.gap, each.verdict_text()});
  if (std::ranges::count_if(all, has_verdict) > 1) table.note = kNotCorrected;
  return table;
}

}  // namespace cachet::tasks
