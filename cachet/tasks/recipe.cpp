#include "cachet/tasks/recipe.h"

#include "cachet/nn/norm/unified_norm.h"
#include "cachet/tasks/weights/weight_import.h"
#include "cachet/train/runtime.h"

namespace cachet::tasks {

std::unique_ptr<Task> RecipePlan::build(Splits splits) const {
  train::prepare_process(training.train);
  std::unique_ptr<Task> built = task->build(training.train, splits);
  if (splits == Splits::both) built->note_doubts();
  return built;
}

std::vector<std::string> RecipePlan::initialize(train::Task& task) const {
  const std::string& path = training.train.init;
  if (path.empty()) return {};
  WeightImportOptions options;
  options.partial = training.train.init_partial;
  const WeightImportReport report = import_weights(task.model(), path, options);
  for (const auto& module : task.model().modules())
    if (auto* norm = dynamic_cast<nn::UnifiedNorm*>(module.get())) norm->restart_warmup();
  return report_lines(report, path);
}

RecipePlan read_recipe(config::Document& document, data::DataRoot data_root) {
  const config::View root = document.root();
  std::vector<const TaskKind*> kinds;
  for (const TaskKind& kind : task_kinds()) kinds.push_back(&kind);
  RecipePlan plan;
  plan.task = root.table("task").record<TaskKind>("kind", kinds.front(), kinds)->read(root, data_root);
  plan.training = train::read_options(root);
  document.finish();
  return plan;
}

}  // namespace cachet::tasks
