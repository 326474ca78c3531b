#include "cachet/tasks/classification_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>

#include "cachet/analysis/observations.h"
#include "cachet/io/atomic_file.h"
#include "cachet/nn/regularizer.h"
#include "cachet/report/html.h"
#include "cachet/tasks/classification_report.h"
#include "cachet/tasks/series_names.h"
#include "cachet/train/run_folder.h"
#include "cachet/train/runtime.h"

namespace cachet::tasks {
namespace {

/// Puts the generators back to where they stood.
class RandomDrawsUndone {
 public:
  explicit RandomDrawsUndone(const torch::nn::Module& model) : model_(model), state_(train::random_state(model)) {}
  RandomDrawsUndone(const RandomDrawsUndone&) = delete;
  RandomDrawsUndone& operator=(const RandomDrawsUndone&) = delete;
  ~RandomDrawsUndone() { train::set_random_state(model_, state_); }

 private:
  const torch::nn::Module& model_;
  io::TensorMap state_;
};

}  // namespace

train::StepResult classification_step(models::Classifier& model, const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor log_probabilities = logits.to(at::kFloat).log_softmax(1);
  train::StepResult result;
  result.loss = -(targets * log_probabilities).sum(1).sum();
  result.weight = static_cast<double>(targets.size(0));
  result.penalty = nn::total_penalty(model);
  result.metrics.push_back({"top1", (log_probabilities.detach().argmax(1) == targets.argmax(1)).sum(), result.weight});
  return result;
}

train::Metrics ClassificationTask::evaluate(const train::EvaluationProgress& progress) {
  const at::NoGradGuard no_grad;
  ClassificationTally tally(classifier().classes());
  int64_t done = 0;
  classify_all([&](const ClassifiedBatch& batch) {
    tally.add(batch);
    progress(++done, test_batches());
  });
  evaluation_ = tally.finish();
  return evaluation_.metrics();
}

std::vector<train::Series> ClassificationTask::observe() {
  std::vector<train::Series> all;
  for (const auto& layer : analysis::cache_shares(model()))
    all.push_back({std::string(kShareSeries) + layer.layer, layer.shares});
  for (const auto& layer : analysis::unified_norm_steps(model()))
    all.push_back({std::string(kUnifiedNormSeries) + layer.layer,
                   {static_cast<double>(layer.steps), static_cast<double>(layer.on_window),
                    static_cast<double>(layer.filtered)}});
  return all;
}

void ClassificationTask::write_report(const train::RunFolder& folder, const train::Status& status) {
  if (!summary_) {
    const RandomDrawsUndone undone(model());  // of another model's constructors: a resumed run must not see them
    summary_ = analysis::summarize(plan_, analysis::Pass::inference, /*depth=*/0);
  }
  report::ClassificationRun run =
      classification_run(folder, status, {plan_.name, *summary_}, evaluation_, class_names(), sample_words());
  show_samples(evaluation_, run);
  io::write_file_atomically(folder.report(), report::render_html(report::classification_page(run)));
}

}  // namespace cachet::tasks
