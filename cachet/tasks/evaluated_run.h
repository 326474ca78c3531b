#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// Returns the plan with evaluations of at most `limit` samples, in the unit of data.limit; 0 means the whole split.
/// The limit does not change facts about the training data, such as the mean of their pixels.
RecipePlan with_limited_evaluation(RecipePlan plan, int64_t limit);

/// Returns the plan with evaluations of about `samples` samples, but not more than the plan's own data.limit.
RecipePlan with_fewer_samples(RecipePlan plan, int64_t samples);

/// Opens a run to evaluate it on its whole test split, by the current rules (TaskPlan::current_rules) unless `settings`
/// select other rules. The limit data.limit in the run's recipe applies, because it defines the data of the run. If the
/// settings name data other than the run's data, and these data have no test split, all of the data are evaluated. The
/// limit task.evaluation.limit in the run's recipe does not apply, because it is only for evaluations during training.
/// The number of samples is limited by `limit`, and by data.limit and task.evaluation.limit if `settings` set these
/// keys. If there are several limits, the smallest one counts. Throws the errors of open_saved_run(), and
/// std::invalid_argument if a limit is below 1 or the task has no limits.
SavedRun open_to_evaluate(const std::filesystem::path& path, const std::vector<std::string>& settings = {},
                          std::optional<int64_t> limit = {});

}  // namespace cachet::tasks
