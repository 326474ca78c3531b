#pragma once

#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"
#include "cachet/tasks/language_modelling/language_modelling_plan.h"
#include "cachet/train/runs/event_log.h"

namespace cachet::tasks {

/// Returns the sections of a run's page about the last evaluation: facts, the loss by position in the segment, and
/// texts by the model. If the run was not evaluated, returns no sections.
std::vector<report::Section> language_evaluation_sections(const LanguageEvaluation& evaluation,
                                                          const LanguageModellingOptions& options);

/// Returns charts of perplexity over the tokens read and over the hours of training. Empty before the first evaluation.
std::vector<report::Section> language_learning_sections(const std::vector<train::Event>& events,
                                                        int64_t tokens_per_step);

}  // namespace cachet::tasks
