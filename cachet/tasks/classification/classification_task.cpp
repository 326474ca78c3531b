#include "cachet/tasks/classification/classification_task.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <limits>

#include "cachet/models/model.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/tasks/classification/measured_records.h"

namespace cachet::tasks {

std::vector<report::MetricDescription> classification_metrics() {
  using report::Better, report::ValueForm;
  return {{.name = "top1",
           .title = "top-1",
           .form = ValueForm::percent,
           .better = Better::higher,
           .decides = true,
           .share = true},
          {"top5", "top-5", ValueForm::percent, Better::higher},
          {"loss", "loss", ValueForm::fixed, Better::lower}};
}

train::ForwardResult classification_step(torch::nn::Module& model, const at::Tensor& logits,
                                         const at::Tensor& targets) {
  train::ForwardResult result;
  result.samples = targets.size(0);
  result.loss = models::summed_cross_entropy(logits, targets);
  result.weight = static_cast<double>(targets.size(0));
  result.penalty = nn::total_penalty(model);
  result.metrics.push_back({"top1", (logits.detach().argmax(1) == targets.argmax(1)).sum(), result.weight});
  return result;
}

train::PreparedBatch prepared_classification(std::vector<at::Tensor*> tensors, const at::Tensor& targets) {
  const int64_t samples = targets.size(0);
  const auto weight = static_cast<double>(samples);
  return {std::move(tensors), weight, samples, /*tokens=*/0, {weight}};
}

train::Metrics ClassificationTask::evaluate(const train::EvaluationProgress& progress) {
  const at::NoGradGuard no_grad;
  ClassificationTally tally(static_cast<int64_t>(class_names().size()));
  int64_t done = 0;
  classify_all(0, [&](const ClassifiedBatch& batch) {
    for (const MeasuredSample& sample : measured(batch)) tally.add(sample);
    progress(++done, evaluation_batches());
  });
  evaluation_ = tally.finish(sample_words());
  return evaluation_.metrics();
}

void ClassificationTask::record_evaluation(int64_t first, const SeenRecord& seen) {
  if (first >= evaluation_size()) return;
  const at::NoGradGuard no_grad;
  const auto classes = static_cast<int64_t>(class_names().size());
  classify_all(first, [&](const ClassifiedBatch& batch) {
    int64_t place = batch.place;
    for (const MeasuredSample& sample : measured(batch)) {
      if (place >= first) seen(measured_record(sample, place, classes));
      ++place;
    }
  });
}

train::Metrics ClassificationTask::evaluate_records(const NextRecord& next) {
  const auto classes = static_cast<int64_t>(class_names().size());
  ClassificationTally tally(classes);
  MeasuredRecords records(classes, evaluation_size());
  while (const auto record = next()) tally.add(records.read(*record));
  records.require_all(sample_words().many);
  evaluation_ = tally.finish(sample_words());
  return evaluation_.metrics();
}

void ClassificationTask::restore_evaluation(const std::string& details) {
  const auto evaluation = evaluation_from_json(details);
  if (evaluation && fits(*evaluation, static_cast<int64_t>(class_names().size()), evaluation_size()))
    evaluation_ = *evaluation;
}

std::vector<report::Section> ClassificationTask::evaluation_sections() const {
  report::Section section{"Predictions", {}, ""};
  const train::SampleWords& words = sample_words();
  if (!evaluation_.confusion.empty())
    section.blocks.push_back(report::ConfusionMatrix{
        "Confusion matrix", class_names(), evaluation_.confusion,
        "The last evaluation, " + train::evaluated_text(words, evaluation_.samples, evaluated_samples().split) + ".",
        words.many});
  for (report::Block& block : evaluation_samples(evaluation_)) section.blocks.push_back(std::move(block));
  return {section};
}

namespace {

/// The prediction from the logits (classes) of one sample.
void answer(const at::Tensor& logits, const AnswerOptions& options, Prediction& prediction) {
  prediction.top = top_guesses(logits.log_softmax(0).exp(), options.top);
  if (!options.logits) return;
  const at::Tensor wide = logits.to(at::kDouble).contiguous();
  prediction.logits.assign(wide.const_data_ptr<double>(), wide.const_data_ptr<double>() + wide.size(0));
}

}  // namespace

void ClassificationTask::predict(int64_t first, const AnswerOptions& options,
                                 const std::function<void(const Prediction& prediction)>& use) {
  classify_in_order(first, [&](const ClassifiedBatch& batch) {
    auto skipped = batch.skipped.begin();
    const auto use_skipped_before = [&](int64_t end) {
      for (; skipped != batch.skipped.end() && skipped->index < end; ++skipped)
        if (skipped->index >= first)
          use({.index = skipped->index, .label = skipped->label, .problem = skipped->problem});
    };
    for (int64_t i = 0; i < batch.logits.size(0); ++i) {
      const int64_t index = batch.indices[static_cast<size_t>(i)];
      use_skipped_before(index);
      if (index < first) continue;
      Prediction prediction;
      prediction.index = index;
      prediction.label = batch.labels[i].item<int64_t>();
      answer(batch.logits[i], options, prediction);
      use(prediction);
    }
    use_skipped_before(std::numeric_limits<int64_t>::max());
  });
}

std::vector<Prediction> ClassificationTask::predict_given(const PreparedSamples& samples,
                                                          const AnswerOptions& options) {
  const at::Tensor logits = classify_given(samples);
  std::vector<Prediction> predictions;
  for (size_t i = 0; i < samples.size(); ++i) {
    Prediction& prediction = predictions.emplace_back();
    prediction.index = samples[i]->index;
    (sample_form() == SampleForm::image_file ? prediction.file : prediction.text) = samples[i]->given;
    answer(logits[static_cast<int64_t>(i)], options, prediction);
  }
  return predictions;
}

std::vector<Record> ClassificationTask::answer_given(const PreparedSamples& samples, const AnswerOptions& options) {
  std::vector<Record> records;
  for (const Prediction& prediction : predict_given(samples, options))
    records.push_back(to_json_line(prediction, class_names()));
  return records;
}

void ClassificationTask::answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) {
  predict(first, options, [&](const Prediction& prediction) { seen(to_json_line(prediction, class_names())); });
}

}  // namespace cachet::tasks
