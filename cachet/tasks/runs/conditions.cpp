#include "cachet/tasks/runs/conditions.h"

#include <algorithm>

#include "cachet/report/metric_description.h"
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

std::string text_of(const RunValue* value) {
  return value == nullptr ? "not known" : report::format_value(value->form, value->value) + value->suffix;
}

}  // namespace

std::string differing_conditions(const RunGroup& group, const std::vector<RunGroup>& groups) {
  const auto first = std::ranges::find_if(groups, [](const RunGroup& each) { return each.is_over(); });
  if (first == groups.end() || &*first == &group) return "";
  const std::vector<RunValue> theirs = group_values(*first), own = group_values(group);
  if (name_of_what_decides(theirs) != name_of_what_decides(own)) return "";
  std::vector<std::string> names;
  for (const std::vector<RunValue>* values : {&theirs, &own})
    for (const RunValue& value : *values)
      if (value.condition && std::ranges::find(names, value.name) == names.end()) names.push_back(value.name);
  std::string text;
  for (const std::string& name : names) {
    const RunValue *left = value_named(theirs, name), *right = value_named(own, name);
    if (left && right && left->value == right->value) continue;
    text += (text.empty() ? "" : "; ") + name + ": " + text_of(left) + " and " + text_of(right);
  }
  return text;
}

bool is_ranked(const RunGroup& group, const std::vector<RunGroup>& groups) {
  return group.is_over() && differing_conditions(group, groups).empty();
}

}  // namespace cachet::tasks
