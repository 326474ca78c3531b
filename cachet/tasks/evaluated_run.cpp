#include "cachet/tasks/evaluated_run.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cachet/config/set_option.h"

namespace cachet::tasks {
namespace {

constexpr const char *kDataLimit = "data.limit", *kTrainingLimit = "task.evaluation.limit";

/// One setting for each value: a setting may assign a table.
std::vector<std::string> single_values(const std::vector<std::string>& settings) {
  std::vector<std::string> all;
  for (const std::string& setting : settings)
    for (std::string& each : config::assignments_of(config::parse_assignment(setting))) all.push_back(std::move(each));
  return all;
}

bool sets(const std::string& value, std::string_view key) {
  return value.starts_with(key) && value.substr(key.size()).starts_with('=');
}

/// The roots of the data, as recipes name them.
std::vector<std::filesystem::path> roots_of(const RecipePlan& plan) {
  std::vector<std::filesystem::path> roots;
  for (const DataPlace& place : plan.task->data()) roots.push_back(place.root.lexically_normal());
  return roots;
}

RecipePlan with_all_evaluated(RecipePlan plan) {
  auto task = std::shared_ptr<TaskPlan>(plan.task->copy());
  task->evaluate_all();
  plan.task = std::move(task);
  return plan;
}

/// The smaller of two limits. 0 means that there is no limit.
int64_t smaller_limit(int64_t one, int64_t other) {
  return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other);
}

}  // namespace

RecipePlan with_limited_evaluation(RecipePlan plan, int64_t limit) {
  auto task = std::shared_ptr<TaskPlan>(plan.task->copy());
  task->limit_evaluation(limit);
  plan.task = std::move(task);
  return plan;
}

RecipePlan with_fewer_samples(RecipePlan plan, int64_t samples) {
  const int64_t limit = smaller_limit(plan.task->data_limit().value_or(0), plan.task->limit_for(samples));
  return with_limited_evaluation(std::move(plan), limit);
}

SavedRun open_to_evaluate(const std::filesystem::path& path, const std::vector<std::string>& settings,
                          std::optional<int64_t> limit) {
  SavedRun asked = open_saved_run(path, settings);
  const bool of_others = !settings.empty() && roots_of(asked.plan) != roots_of(read_saved_plan(path));
  if (std::vector<std::string> rules = asked.plan.task->current_rules(); !rules.empty()) {
    rules.insert(rules.end(), settings.begin(), settings.end());
    asked = open_saved_run(path, rules);
  }
  const std::optional<int64_t> of_data = asked.plan.task->data_limit();
  if (limit && *limit < 1) throw std::invalid_argument("the limit of samples must be at least 1");
  if (limit && !of_data)
    throw std::invalid_argument("a task of kind '" + asked.plan.task->profile().kind +
                                "' has no limit of samples; leave the limit out");
  if (of_others) asked.plan = with_all_evaluated(std::move(asked.plan));
  if (!of_data) return asked;
  int64_t evaluated = smaller_limit(*of_data, limit.value_or(0));
  std::vector<std::string> own = single_values(settings);
  if (std::ranges::any_of(own, [](const std::string& value) { return sets(value, kTrainingLimit); }))
    evaluated = smaller_limit(evaluated, asked.plan.task->training_evaluation_limit());
  // data.limit of an evaluation must not cut the training data: they decide how pixels are normalized, and what
  // counting words of them reaches.
  const bool cuts_data = std::erase_if(own, [](const std::string& value) { return sets(value, kDataLimit); }) > 0;
  SavedRun saved = cuts_data ? open_saved_run(path, own) : std::move(asked);
  if (of_others) saved.plan = with_all_evaluated(std::move(saved.plan));
  saved.plan = with_limited_evaluation(std::move(saved.plan), evaluated);
  return saved;
}

}  // namespace cachet::tasks
