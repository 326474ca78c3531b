#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::tasks {

/// Writes the counts of a run that begins into a recipe that was read, in place of warm-ups that are fractions
/// ("10 %"): the rule of nn::Norm::settle_warmup(). `updates` are those of train::run_length(). Returns a line for each
/// value that changed.
std::vector<std::string> settle_warmups(config::Document& recipe, int64_t updates);

/// "key=value" of the counts that a run has, for warm-ups that are fractions in a recipe that was read: a resume keeps
/// them. `run` are the values of the run.
std::vector<std::string> settled_warmups(const config::Document& recipe, const train::RecipeValues& run);

}  // namespace cachet::tasks
