#include "cachet/tasks/task_profile.h"

#include "cachet/analysis/cost/model_summary.h"

namespace cachet::tasks {

train::RunDescription describe(const TaskProfile& profile) {
  const auto summary = analysis::summarize(profile.model, analysis::Pass::inference, /*depth=*/0);
  return {
      profile.kind,           profile.words,  profile.model.name, summary.parameters, summary.macs.linear_convolution,
      summary.macs.attention, profile.metrics};
}

}  // namespace cachet::tasks
