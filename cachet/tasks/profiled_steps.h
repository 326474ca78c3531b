#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "cachet/analysis/cost/benchmark.h"
#include "cachet/models/model.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/profile/step_profile.h"

namespace cachet::tasks {

/// How steps are profiled.
struct ProfileOptions {
  int64_t steps = 5;                             // number of profiled steps
  int64_t samples = 0;                           // samples in a training step; 0 = as many as in the recipe
  std::optional<std::filesystem::path> trace{};  // file for a Chrome trace of the profiled steps
};

/// Profiles training steps of a recipe, with its optimizer, its precision and its device, on synthetic samples of the
/// largest size that the recipe allows. A step has one micro-batch. First, runs some steps
/// without the profiler, and measures their times. Throws the errors of training and of train::Profiler, and io::Error
/// if the trace cannot be written.
train::StepProfile profile_training(const RecipePlan& plan, const ProfileOptions& options);

/// Profiles steps of a model alone, as analysis::trial_step() runs them.
train::StepProfile profile_trial(models::Model& model, const analysis::BenchmarkOptions& trial,
                                 const ProfileOptions& options);

}  // namespace cachet::tasks
