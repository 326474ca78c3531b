#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/report/text/fitted_line.h"
#include "cachet/train/runs/run_description.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// The progress of a run, in whole epochs or in steps.
struct RunPlace {
  bool in_epochs = true;
  int64_t number = 0;

  std::string word() const { return in_epochs ? "epoch" : "step"; }
};

/// The best evaluation so far, according to the deciding metric.
struct BestEvaluation {
  double value = 0;
  RunPlace place{};
  bool is_last = false;  // whether it is also the last evaluation
};

/// The results of an evaluation, and the results of training since the previous evaluation.
struct EvaluationReport {
  RunPlace place{};
  int64_t places = 0;         // number of epochs or steps of the whole run
  Metrics training{};         // means over the steps; empty if there were no steps
  bool since_resume = false;  // whether `training` lacks steps before a resume
  Metrics evaluation{};
  std::optional<BestEvaluation> best{};
  double samples_per_second = 0, tokens_per_second = 0;  // 0 if nothing was measured
  std::optional<double> seconds_left{};                  // empty at the end of a run
};

/// Returns the fields of the line about an evaluation. If not all fields fit into the line, the field of the deciding
/// metric stays. If the deciding metric is a fraction of samples (top-1), its field has no title: `epoch 3/20 loss 0.95
/// train 78.9 % | validation 81.23 ± 0.91 % (best 82.04 % in epoch 2) 2.8k images/s 1m34s left`
std::vector<report::LineField> evaluation_fields(const RunDescription& run, const EvaluationReport& report);

/// Returns `validation top-1 81.23 ± 0.91 % (best 82.04 % in epoch 2)`: the last and the best evaluation. Returns an
/// empty text if the deciding metric was not evaluated.
std::string evaluation_result(const RunDescription& run, const Metrics& evaluation,
                              const std::optional<BestEvaluation>& best);

}  // namespace cachet::train
