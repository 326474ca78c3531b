#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/train/runs/resume_rules.h"

namespace cachet::tasks {

/// In a recipe of a new run, replaces warm-ups that are fractions ("10 %") with counts, by the rule of
/// nn::Norm::settle_warmup(). `updates` is RunLength::updates of train::run_length(). Returns a line of text for each
/// changed value.
std::vector<std::string> settle_warmups(config::Document& recipe, int64_t updates);

/// If the recipe has warm-ups that are fractions, returns settings "key=value" with the numbers of updates that the run
/// uses instead, because a resumed run uses the same numbers. `run` has the recipe values of the run.
std::vector<std::string> settled_warmups(const config::Document& recipe, const train::RecipeValues& run);

}  // namespace cachet::tasks
