#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

/// The plan whose evaluations look at no more than `limit` samples, in the unit of data.limit, 0 = the whole split.
/// Facts about the training data, such as the mean of their pixels, stay.
RecipePlan with_limited_evaluation(RecipePlan plan, int64_t limit);

/// The same, but of about so many samples, and of no more than the plan's own data.limit keeps.
RecipePlan with_fewer_samples(RecipePlan plan, int64_t samples);

/// Opens a run to evaluate it on its whole test split, by today's rules (TaskPlan::current_rules) unless `settings` ask
/// for others. Its own data.limit holds, because it defines the data of the
/// run; if the settings name other data of a run whose data have no test split, all of them are evaluated; its
/// task.evaluation.limit does not, because it makes evaluations during training cheap. `limit` asks for fewer samples,
/// and so do both keys if `settings` set them. Of several the smallest counts. Throws as open_saved_run does, and
/// std::invalid_argument for a limit below 1 or of a task that knows none.
SavedRun open_to_evaluate(const std::filesystem::path& path, const std::vector<std::string>& settings = {},
                          std::optional<int64_t> limit = {});

}  // namespace cachet::tasks
