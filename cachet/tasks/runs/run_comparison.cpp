#include "cachet/tasks/runs/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "cachet/tasks/runs/conditions.h"
#include "cachet/tasks/runs/cost_curves.h"
#include "cachet/tasks/runs/differences.h"
#include "cachet/tasks/runs/group_curves.h"
#include "cachet/tasks/runs/paired_seeds.h"
#include "cachet/tasks/runs/run_values.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/run_status.h"

namespace cachet::tasks {
namespace {

using report::Cell;

std::vector<report::Metric> metrics_of(const std::vector<RunValue>& values) {
  std::vector<report::Metric> metrics;
  for (const RunValue& value : values) metrics.push_back(shown(value));
  return metrics;
}

std::string seeds_of(const RunGroup& group) {
  std::string seeds;
  for (const RunRecord& run : group.runs) seeds += (seeds.empty() ? "" : ", ") + run.seed();
  return seeds;
}

/// Whether the table of a key, such as "data", has the same `kind` in both recipes.
bool of_same_kind(const std::string& key, const RunRecord& one, const RunRecord& other) {
  const std::string kind = key.substr(0, key.rfind('.')) + ".kind";
  const auto kind_of = [&](const RunRecord& run) {
    const auto found = run.recipe.find(kind);
    return found == run.recipe.end() ? std::string() : found->second;
  };
  return kind_of(one) == kind_of(other);
}

bool same_task(const RunRecord& one, const RunRecord& other) { return of_same_kind("task.kind", one, other); }

/// The values of a run's recipe, with the options that are newer than the run: those of [train] at their defaults,
/// those whose rule has changed at the value that the run was made with; with the names of classes that other runs on
/// such data have if it has none; and with the number of parts of a step if they have states of their own. (Other keys
/// of other tables come and go with kinds: a missing one there is a difference.)
train::RecipeValues recipe_beside(const RunRecord& run, const std::vector<RunGroup>& groups) {
  train::RecipeValues recipe = run.recipe;
  const train::RecipeValues experiment = train::values_of_experiment(recipe, std::max<int64_t>(1, run.processes));
  if (const auto parts = experiment.find(train::kPartsOfStep); parts != experiment.end()) recipe.insert(*parts);
  for (const RunGroup& group : groups)
    for (const RunRecord& other : group.runs)
      for (const auto& [key, value] : other.recipe)
        if (const auto earlier = train::earlier_value(key)) {
          if (of_same_kind(key, run, other) && same_task(run, other)) recipe.emplace(key, *earlier);
        } else if ((names_classes(key) && of_same_kind(key, run, other)) ||
                   (key.starts_with("train.") && other.default_keys.contains(key))) {
          recipe.emplace(key, value);
        }
  return recipe;
}

using KeyValues = std::vector<std::pair<std::string, std::string>>;

KeyValues recipe_of(const RunGroup& group, const std::vector<RunGroup>& groups) {
  KeyValues recipe;
  for (const auto& [key, value] : recipe_beside(group.runs.front(), groups))
    recipe.emplace_back(key, key == kSeedKey ? seeds_of(group) : value);
  return recipe;
}

std::string state_of(const RunRecord& run) { return run.status ? train::to_text(*run.status) : "–"; }

/// "finished", "running at step 50 of 160", "2 of 3 over", "1 of 3 over, 2 failed".
std::string state_of(const RunGroup& group) {
  if (!group.has_seeds()) return state_of(group.runs.front());
  const auto over = std::ranges::count_if(group.runs, &RunRecord::is_over);
  const std::string failed = group.failed() > 0 ? ", " + std::to_string(group.failed()) + " failed" : "";
  return std::to_string(over) + " of " + std::to_string(group.runs.size() + group.missing.size()) + " over" + failed;
}

report::ComparedRun compared_run(const RunRecord& run, const std::vector<RunValue>& values) {
  report::ComparedRun row{run.name, {}, metrics_of(values), {}};
  row.state = state_of(run);
  row.ranked = run.is_over();
  return row;
}

/// Why a group is not ranked: it is not over, runs of it have failed, or it was measured on something else than the
/// first.
std::string unranked_sentence(const RunGroup& group, const std::vector<RunGroup>& groups) {
  const std::string left_out = "left out of the significance tests and of the best values";
  if (group.has_seeds() && group.failed() > 0)
    return group.title() + " is " + left_out + ", because " + std::to_string(group.failed()) + " of its " +
           std::to_string(group.runs.size() + group.missing.size()) + " seeds failed.";
  if (group.is_over()) {
    const std::string differ = differing_conditions(group, groups);
    if (differ.empty()) return "";
    return group.title() + " is " + left_out + ", because its measurement differs (" + differ + ").";
  }
  std::string text = group.title() + " is " + state_of(group) + ", and " + left_out;
  const std::optional<train::Status>& status = group.runs.front().status;
  if (group.has_seeds() || !status || status->running || status->message.empty()) return text + ".";
  return text + ": " + train::first_line(status->message) + ".";
}

/// The groups that are compared with the first although it is not known whether their conditions are the same.
std::string unknown_sentence(const std::vector<RunGroup>& groups) {
  std::string names;
  for (const RunGroup& group : groups)
    if (is_ranked(group, groups) && are_conditions_unknown(group, groups))
      names += (names.empty() ? "" : ", ") + group.title();
  return names.empty() ? "" : "It is not known whether these runs have the same test data: " + names + ".";
}

/// The runs whose image files may be others although only their modification times differ.
std::string other_times_sentence(const std::vector<RunGroup>& groups) {
  std::string names;
  for (const std::string& name : runs_with_other_times(groups)) names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) return "";
  return "The image files of these runs have the same names and sizes, but different modification times: " + names +
         ". It is not known whether the images are the same.";
}

/// The runs whose last evaluation gave no number for the metric that decides.
std::string not_a_number_sentence(const RunGroup& group) {
  std::string names, metric;
  for (const RunRecord* run : group.counted())
    for (const RunValue& value : run_values(*run)) {
      if (!value.decides || !std::isnan(value.value)) continue;
      names += (names.empty() ? "" : ", ") + run->name;
      metric = value.name;
    }
  return names.empty() ? "" : "The last " + metric + " is not a number in: " + names + ".";
}

/// By how many processes the runs of a group were trained, if any of them was by several.
std::string processes_sentence(const RunGroup& group) {
  std::set<int64_t> numbers;
  for (const RunRecord& run : group.runs) numbers.insert(std::max<int64_t>(1, run.processes));
  if (*numbers.rbegin() == 1) return "";
  std::string text;
  for (const int64_t number : numbers) text += (text.empty() ? "" : " or ") + std::to_string(number);
  return group.title() + " was trained by " + text + " processes. The rates and times are for all processes together.";
}

Cell integer_cell(int64_t value) { return {std::to_string(value), static_cast<double>(value)}; }

bool any_seeds(const std::vector<RunGroup>& groups) {
  return std::ranges::any_of(groups, [](const RunGroup& group) { return group.has_seeds(); });
}

std::string left_out(const RunGroup& group) {
  const std::vector<const RunRecord*> counted = group.counted();
  std::string seeds;
  const auto add = [&](const std::string& seed, const std::string& why) {
    seeds += (seeds.empty() ? "" : ", ") + seed + " (" + why + ")";
  };
  for (const RunRecord& run : group.runs)
    if (std::ranges::find(counted, &run) == counted.end())
      add(run.seed(), run.is_over() ? "not evaluated" : state_of(run));
  for (const uint64_t seed : group.missing) add(std::to_string(seed), "not begun");
  return seeds.empty() ? "" : "The means of " + group.title() + " leave out seed " + seeds + ".";
}

}  // namespace

std::vector<report::ComparedRun> compared(const std::vector<RunGroup>& groups) {
  std::vector<report::ComparedRun> rows;
  const auto curves = group_curves(groups);
  for (size_t i = 0; i < groups.size(); ++i)
    rows.push_back({groups[i].title(), recipe_of(groups[i], groups), metrics_of(group_values(groups[i])), curves[i],
                    groups[i].name, state_of(groups[i]), is_ranked(groups[i], groups)});
  return rows;
}

std::vector<report::ComparedRun> compared_alone(const std::vector<RunGroup>& groups) {
  std::vector<report::ComparedRun> rows;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      const train::RecipeValues recipe = recipe_beside(run, groups);
      rows.push_back(compared_run(run, run_values(run)));
      rows.back().recipe.assign(recipe.begin(), recipe.end());
    }
  return rows;
}

report::Table seeds_table(const std::vector<RunGroup>& groups) {
  report::Table table{"Runs of several seeds", {{"run"}, {"seed", report::Alignment::right}}, {}, ""};
  std::vector<report::ComparedRun> rows;
  for (const RunGroup& group : groups) {
    if (!group.has_seeds()) continue;
    for (const RunRecord& run : group.runs) {
      std::vector<RunValue> values = run_values(run);
      std::erase_if(values, [](const RunValue& value) { return value.better == report::Better::neither; });
      rows.push_back(compared_run(run, values));
      rows.back().ranked = rows.back().ranked && is_ranked(group, groups);
      table.rows.push_back({run.name, run.seed()});
    }
    for (const uint64_t seed : group.missing) {
      rows.push_back({"seed " + std::to_string(seed), {}, {}, {}, "", "not begun", false});
      table.rows.push_back({rows.back().name, std::to_string(seed)});
    }
  }
  const report::Table results = report::results_table(rows);
  table.columns.insert(table.columns.end(), results.columns.begin() + 1, results.columns.end());
  for (size_t i = 0; i < table.rows.size(); ++i)
    table.rows[i].insert(table.rows[i].end(), results.rows[i].begin() + 1, results.rows[i].end());
  table.unranked = results.unranked;
  return table;
}

std::vector<std::string> unreadable_lines(const std::vector<RunGroup>& groups) {
  std::vector<std::string> sentences;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs)
      if (const int64_t lines = run.unreadable_lines; lines > 0)
        sentences.push_back(run.name + ": " + std::to_string(lines) + (lines == 1 ? " line" : " lines") +
                            " of its metrics.jsonl cannot be read, so values are missing in this comparison.");
  return sentences;
}

namespace {

/// Which runs report the data that chose their best checkpoints.
std::string choice_sentence(const std::vector<RunGroup>& groups) {
  size_t all = 0;
  std::vector<std::string> names;
  for (const RunGroup& group : groups)
    for (const RunRecord& run : group.runs) {
      ++all;
      if (run.reports_choice()) names.push_back(run.name);
    }
  if (names.empty()) return "";
  std::string of;
  for (const std::string& name : names) of += (of.empty() ? "" : ", ") + name;
  return "The best checkpoint" + std::string(names.size() > 1 ? "s" : "") + " of " +
         (names.size() == all && all > 1 ? "all runs" : of) + (names.size() > 1 ? " were" : " was") +
         " chosen on the same data on which " + (names.size() > 1 ? "their best values" : "its best values") +
         " were measured, so these values may be too good.";
}

}  // namespace

std::string comparison_notes(const std::vector<RunGroup>& groups) {
  std::string notes = difference_sentences(differences(contenders(groups)));
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) notes += (notes.empty() ? "" : " ") + sentence;
  };
  if (any_seeds(groups))
    add("For several seeds, a value is the mean ± the standard deviation over the seeds, and a best value is the best "
        "of "
        "all seeds. For a single run, ± is the standard error on the test data.");
  for (const RunGroup& group : groups)
    if (group.has_seeds()) add(left_out(group));
  if (groups.size() > 1)
    for (const RunGroup& group : groups) add(unranked_sentence(group, groups));
  add(choice_sentence(groups));
  add(unknown_sentence(groups));
  add(other_times_sentence(groups));
  for (const RunGroup& group : groups) add(not_a_number_sentence(group));
  for (const RunGroup& group : groups) add(processes_sentence(group));
  for (const std::string& sentence : unreadable_lines(groups)) add(sentence);
  return notes;
}

std::vector<report::Table> difference_tables(const std::vector<RunGroup>& groups) {
  std::vector<report::Table> tables;
  for (const report::Table& table : {difference_table(differences(contenders(groups))), paired_seeds_table(groups)})
    if (!table.rows.empty()) tables.push_back(table);
  return tables;
}

report::Page comparison_page(const std::vector<RunGroup>& groups, const std::string& title) {
  report::Page page = report::comparison_page(compared(groups), title);
  report::Section& results = page.sections.front();
  results.note = comparison_notes(groups);
  std::vector<report::Table> behind = difference_tables(groups);
  if (any_seeds(groups)) behind.push_back(seeds_table(groups));
  results.blocks.insert(results.blocks.begin() + 1, behind.begin(), behind.end());
  if (const CostCurves curves = cost_curves(groups); !curves.curves.empty())
    page.sections.insert(page.sections.begin() + 1, {"Cost", {cost_chart(curves), cost_table(curves)}, ""});
  if (!any_seeds(groups)) return page;
  size_t runs = 0;
  for (const RunGroup& group : groups) runs += group.runs.size();
  page.subtitle = std::to_string(groups.size()) + (groups.size() == 1 ? " recipe, " : " recipes, ") +
                  std::to_string(runs) + (runs == 1 ? " run" : " runs");
  return page;
}

report::Table published_table(const std::vector<RunGroup>& groups) {
  report::Table table{
      "", {{"run"}, {"recipe"}, {"seed"}, {"commit"}, {"device"}, {"date"}, {"state"}, {"step"}}, {}, ""};
  std::vector<report::ComparedRun> rows;
  for (const RunGroup& group : groups) {
    for (const RunRecord& run : group.runs) {
      std::vector<RunValue> values = run_values(run);
      rows.push_back({run.name, {}, metrics_of(values), {}});
      for (size_t i = 0; i < values.size(); ++i) rows.back().metrics[i].name = values[i].name;  // for programs
      for (const RunValue& value : values)
        if (std::isfinite(value.spread)) rows.back().metrics.push_back({value.name + " stderr", {"", value.spread}});
      table.rows.push_back({run.name, run.recipe_name, run.seed(), run.commit, run.device, run.created,
                            run.status ? Cell(train::state_word(*run.status)) : Cell(), integer_cell(run.last_step())});
    }
  }
  const report::Table results = report::results_table(rows);
  table.columns.insert(table.columns.end(), results.columns.begin() + 1, results.columns.end());
  for (size_t i = 0; i < table.rows.size(); ++i) {
    for (size_t column = 1; column < results.rows[i].size(); ++column) {
      const Cell& cell = results.rows[i][column];
      table.rows[i].push_back(std::isnan(cell.value) ? Cell() : cell);  // an empty field, not a dash
    }
  }
  return table;
}

}  // namespace cachet::tasks
