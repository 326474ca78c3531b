#include "cachet/tasks/runs/paired_seeds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "cachet/analysis/statistics/statistics.h"
#include "cachet/report/format.h"
#include "cachet/tasks/runs/conditions.h"
#include "cachet/tasks/runs/differences.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {
namespace {

constexpr size_t kMinPairs = 3;
constexpr double kManySeeds = 1000;

/// The metric that decides of each counted run of a group, by seed.
std::map<std::string, RunValue> decisive_values(const RunGroup& group) {
  std::map<std::string, RunValue> values;
  for (const RunRecord* run : group.counted()) {
    const std::vector<RunValue> own = run_values(*run);
    const auto decides = std::ranges::find(own, true, &RunValue::decides);
    if (decides != own.end() && std::isfinite(decides->value)) values.emplace(run->seed(), *decides);
  }
  return values;
}

std::string signed_gap(const RunValue& value, double gap) { return (gap > 0 ? "+" : "") + gap_text(value, gap); }

/// Whether each pair has twice the same value: there is no effect to divide by a deviation of 0.
bool all_equal(const analysis::PairedDifference& difference) {
  return difference.mean == 0 && difference.lower == 0 && difference.upper == 0;
}

report::Cell effect_cell(const analysis::PairedDifference& difference) {
  if (all_equal(difference)) return {"–"};
  if (!std::isfinite(difference.effect)) return {"∞", difference.effect};
  return {report::format_fixed(difference.effect, 2), difference.effect};
}

/// Empty if the seeds that there are decide.
report::Cell seeds_to_decide(const analysis::PairedDifference& difference) {
  if (all_equal(difference)) return {"–"};
  if (difference.decided()) return {};
  const double pairs = analysis::pairs_to_decide(difference.effect);
  if (pairs > kManySeeds) return {"over " + report::format_count(kManySeeds), pairs};
  return {report::format_count(pairs), pairs};
}

}  // namespace

report::Table paired_seeds_table(const std::vector<RunGroup>& groups) {
  using report::Alignment;
  report::Table table{
      "Differences by pairs of seeds",
      {{"run"},
       {"compared with"},
       {"metric"},
       {"pairs", Alignment::right},
       {"mean", Alignment::right},
       {"95 % interval", Alignment::right},
       {"effect", Alignment::right},
       {"seeds to decide", Alignment::right}},
      {},
      "The effect is the mean ÷ the standard deviation of the differences. \"Seeds to decide\" is the number of seeds "
      "that would show a difference of this effect in four of five experiments. The column \"seeds to decide\" is "
      "empty if the seeds of the runs already show the difference. The intervals are not corrected for several "
      "comparisons."};
  if (groups.empty() || !is_ranked(groups.front(), groups)) return table;
  const auto first = decisive_values(groups.front());
  for (const RunGroup& group : groups) {
    if (&group == &groups.front() || !is_ranked(group, groups)) continue;
    std::vector<double> before, after;
    RunValue metric;
    for (const auto& [seed, value] : decisive_values(group)) {
      const auto other = first.find(seed);
      if (other == first.end() || other->second.name != value.name) continue;
      metric = value;
      before.push_back(other->second.value);
      after.push_back(value.value);
    }
    if (before.size() < kMinPairs) continue;
    const analysis::PairedDifference d = analysis::paired_difference(before, after);
    table.rows.push_back({group.name,
                          groups.front().name,
                          metric.name,
                          {std::to_string(d.pairs), static_cast<double>(d.pairs)},
                          {signed_gap(metric, d.mean), d.mean},
                          {signed_gap(metric, d.lower) + " to " + signed_gap(metric, d.upper), d.lower},
                          effect_cell(d),
                          seeds_to_decide(d)});
  }
  return table;
}

}  // namespace cachet::tasks
