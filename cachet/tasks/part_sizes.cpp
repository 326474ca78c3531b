#include "cachet/tasks/part_sizes.h"

namespace cachet::tasks {
namespace {

using train::StateRule;

/// "64", or "12 or 13" where they differ.
std::string size_text(const RecipePlan& plan) {
  const int64_t parts = plan.training.train.shard.all_parts();
  const int64_t step = plan.task->step_size(plan.training.train).count;
  const std::string least = std::to_string(step / parts);
  return step % parts == 0 ? least : least + " or " + std::to_string(step / parts + 1);
}

std::string count_text(const RecipePlan& plan) { return std::to_string(plan.training.train.shard.all_parts()); }

std::string full_text(const RecipePlan& plan) {
  const bool one = plan.training.train.shard.all_parts() == 1;
  const bool states = plan.training.train.state == StateRule::separate;
  return count_text(plan) + (states ? (one ? " state" : " states") : (one ? " part" : " parts")) + " of " +
         size_text(plan) + " " + plan.task->step_size(plan.training.train).unit;
}

}  // namespace

std::optional<std::string> part_sizes_text(const RecipePlan& plan) {
  if (!plan.training.train.has_parts()) return std::nullopt;
  return full_text(plan);
}

std::optional<std::string> other_parts_note(const RecipePlan& run, const RecipePlan& recipe) {
  if (!run.training.train.has_parts()) return std::nullopt;
  if (!recipe.training.train.has_parts())
    return "the run has " + full_text(run) + ", but the recipe has one state for all parts (statistics and caches)";
  if (count_text(run) == count_text(recipe) && size_text(run) == size_text(recipe)) return std::nullopt;
  return "the run has " + full_text(run) + ", but the recipe has " + count_text(recipe) + " of " + size_text(recipe);
}

}  // namespace cachet::tasks
