#include "cachet/train/runs/deciding_metric.h"

#include <stdexcept>

namespace cachet::train {

const report::MetricDescription& deciding_metric(const RunDescription& run) {
  const report::MetricDescription* metric = report::deciding(run.metrics);
  if (metric == nullptr || metric->better == report::Better::neither)
    throw std::logic_error("the task \"" + run.task + "\" has no metric that decides which checkpoint is the best");
  return *metric;
}

double deciding_value(const RunDescription& run, const Metrics& evaluation) {
  const std::string& name = deciding_metric(run).name;
  if (const auto value = evaluation.find(name)) return *value;
  throw std::runtime_error("the result of the evaluation has no \"" + name +
                           "\", the metric that decides which checkpoint is the best");
}

}  // namespace cachet::train
