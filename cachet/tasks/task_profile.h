#pragma once

#include <string>
#include <vector>

#include "cachet/models/model_plan.h"
#include "cachet/report/metric_description.h"
#include "cachet/train/runs/run_description.h"

namespace cachet::tasks {

/// What a task is, known from its recipe before anything is opened or built.
struct TaskProfile {
  std::string kind;  // as [task] kind has it: "image_classification"
  train::SampleWords words;
  std::vector<report::MetricDescription> metrics;  // of steps and evaluations; one of them decides
  models::ModelPlan model;
  /// Whether the data that choose the best checkpoint in training are those that a test reports.
  bool reports_choice = false;
};

/// What the folder of a run keeps of it: parameters and multiplications of one sample are counted, which draws random
/// numbers in the model's constructors.
train::RunDescription describe(const TaskProfile& profile);

}  // namespace cachet::tasks
