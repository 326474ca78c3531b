#pragma once

#include <string>
#include <vector>

#include "cachet/models/model_plan.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/runs/run_description.h"

namespace cachet::tasks {

/// The properties of a task that its recipe determines before data are opened or the model is built.
struct TaskProfile {
  std::string kind;  // value of [task] kind: "image_classification"
  train::SampleWords words;
  std::vector<report::MetricDescription> metrics;  // metrics of steps and evaluations; exactly one decides
  models::ModelPlan model;
  /// Whether training chooses the best checkpoint on the same data on which a test reports results.
  bool reports_choice = false;
};

/// Returns the description that a run's folder stores. Counts the parameters, and the multiplications for one sample.
/// describe() builds the model, which uses random numbers of torch's generators.
train::RunDescription describe(const TaskProfile& profile);

}  // namespace cachet::tasks
