#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "cachet/report/comparison.h"

namespace cachet::tasks {

/// A row of a comparison, with the accuracy that its cells show as a number: NaN where there is none.
struct ComparedResult {
  report::ComparedRun shown;
  double top1 = std::numeric_limits<double>::quiet_NaN(), top1_stderr = top1;
};

/// "85.6 % ± 0.8 %", higher is better; without an error no ±.
report::Metric accuracy_metric(const std::string& name, double value, double error = 0);

/// What a comparison says of a run: its recipe, its last evaluation, the model's size, how fast it trained, its curves.
/// Throws std::runtime_error for what is no run, config::Error for one whose recipe cannot be read any more.
ComparedResult compared_run(const std::filesystem::path& run);

/// A row for each group of two and more runs whose recipes differ in nothing but train.seed: the means of their
/// accuracies ± the deviation between seeds.
std::vector<ComparedResult> seed_averages(const std::vector<ComparedResult>& results);

/// Sentences on how the accuracy of each run behind the first differs from the first one's, and whether by more than
/// chance: twice the standard error of the difference.
std::string accuracy_differences(const std::vector<ComparedResult>& results);

}  // namespace cachet::tasks
