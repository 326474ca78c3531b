#include "cachet/tasks/task_profile.h"

#include "cachet/analysis/cost/model_summary.h"

namespace cachet::tasks {

train::RunDescription describe(const TaskProfile& profile) {
  const auto summary = analysis::summarize(profile.model, analysis::Pass::inference, /*depth=*/0);
  train::RunDescription description{
      profile.kind,           profile.words,  profile.model.name, summary.parameters, summary.macs.linear_convolution,
      summary.macs.attention, profile.metrics};
  description.reports_choice = profile.reports_choice;
  return description;
}

}  // namespace cachet::tasks
