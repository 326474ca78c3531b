#include "cachet/tasks/runs/conditions.h"

#include <algorithm>

#include "cachet/report/metric_description.h"
#include "cachet/tasks/runs/data_of_runs.h"
#include "cachet/tasks/runs/run_values.h"

namespace cachet::tasks {
namespace {

const RunValue* value_named(const std::vector<RunValue>& values, const std::string& name) {
  const auto found = std::ranges::find(values, name, &RunValue::name);
  return found == values.end() ? nullptr : &*found;
}

/// "" of a group without an evaluation.
std::string name_of_what_decides(const std::vector<RunValue>& values) {
  const auto found = std::ranges::find(values, true, &RunValue::decides);
  return found == values.end() ? "" : found->name;
}

std::string text_of(const RunValue& value) { return report::format_value(value.form, value.value) + value.suffix; }

/// The values of two groups that are conditions, side by side; null where a group does not have one.
struct Condition {
  const RunValue *left = nullptr, *right = nullptr;
  bool is_known() const { return left != nullptr && right != nullptr; }
};

std::vector<Condition> conditions(const std::vector<RunValue>& left, const std::vector<RunValue>& right) {
  std::vector<Condition> all;
  for (const RunValue& value : left)
    if (value.condition) all.push_back({&value, value_named(right, value.name)});
  for (const RunValue& value : right)
    if (value.condition && value_named(left, value.name) == nullptr) all.push_back({nullptr, &value});
  return all;
}

/// The first group that is over, which others are compared with; null if the group is this one, or if there is none.
const RunGroup* compared_with(const RunGroup& group, const std::vector<RunGroup>& groups) {
  const auto first = std::ranges::find_if(groups, [](const RunGroup& each) { return each.is_over(); });
  return first == groups.end() || &*first == &group ? nullptr : &*first;
}

std::string differing_data(const RunRecord& first, const RunRecord& own) {
  const train::RunDescription &left = first.description, &right = own.description;
  if (!left.task.empty() && !right.task.empty() && left.task != right.task)
    return "task: " + left.task + " and " + right.task;
  if (compared_test_data(first, own) != DataOfRuns::other) return "";
  if (!numbers_of_samples_differ(first, own)) return "the " + left.words.held_out + " data are not the same";
  return left.words.held_out + " " + left.words.many + ": " + std::to_string(left.evaluated) + " and " +
         std::to_string(right.evaluated);
}

}  // namespace

std::string differing_conditions(const RunGroup& group, const std::vector<RunGroup>& groups) {
  const RunGroup* first = compared_with(group, groups);
  if (first == nullptr) return "";
  std::string text = differing_data(first->runs.front(), group.runs.front());
  const std::vector<RunValue>&theirs = group_values(*first), &own = group_values(group);
  if (name_of_what_decides(theirs) != name_of_what_decides(own)) return text;
  for (const Condition& each : conditions(theirs, own)) {
    if (!each.is_known() || each.left->value == each.right->value) continue;
    text += (text.empty() ? "" : "; ") + each.left->name + ": " + text_of(*each.left) + " and " + text_of(*each.right);
  }
  return text;
}

bool are_conditions_unknown(const RunGroup& group, const std::vector<RunGroup>& groups) {
  const RunGroup* first = compared_with(group, groups);
  if (first == nullptr) return false;
  const std::vector<RunValue>&theirs = group_values(*first), &own = group_values(group);
  const std::string decides = name_of_what_decides(own);
  if (decides.empty() || decides != name_of_what_decides(theirs)) return false;
  return compared_test_data(first->runs.front(), group.runs.front()) == DataOfRuns::unknown ||
         !std::ranges::all_of(conditions(theirs, own), &Condition::is_known);
}

std::vector<std::string> runs_with_other_times(const std::vector<RunGroup>& groups) {
  std::vector<std::string> names;
  for (const RunGroup& group : groups) {
    const RunGroup* first = is_ranked(group, groups) ? compared_with(group, groups) : nullptr;
    for (const RunRecord& run : group.runs)
      if (only_times_differ(group.runs.front(), run, "training") ||
          only_times_differ(group.runs.front(), run, "evaluation") ||
          (first != nullptr && only_times_differ(first->runs.front(), run, "evaluation")))
        names.push_back(run.name);
  }
  return names;
}

bool is_ranked(const RunGroup& group, const std::vector<RunGroup>& groups) {
  return group.is_over() && group.failed() == 0 && differing_conditions(group, groups).empty();
}

}  // namespace cachet::tasks
