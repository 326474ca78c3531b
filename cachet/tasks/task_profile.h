#pragma once

#include <string>
#include <vector>

#include "cachet/models/model_plan.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/runs/run_description.h"

namespace cachet::tasks {

/// The properties of a task, known from its recipe before data are opened or the model is built.
struct TaskProfile {
  std::string kind;  // value of [task] kind: "image_classification"
  train::SampleWords words;
  std::vector<report::MetricDescription> metrics;  // of steps and evaluations; exactly one metric is the deciding one
  models::ModelPlan model;
  /// Whether the data that choose the best checkpoint in training are also the data of a test.
  bool reports_choice = false;
};

/// Returns the description that a run's folder stores. Counts parameters and multiplications of one sample; for this,
/// the model's constructors draw random numbers.
train::RunDescription describe(const TaskProfile& profile);

}  // namespace cachet::tasks
