#include "cachet/tasks/classification/classification_evaluation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {
namespace {

constexpr size_t kShown = 18;

}  // namespace

train::Metrics ClassificationEvaluation::metrics() const {
  train::Metrics metrics{{"loss", loss}, {"top1", top1}};
  if (samples > 1) metrics.set("top1_stderr", top1_stderr);
  if (classes > kLikeliest) metrics.set("top5", top5);
  if (skipped > 0) metrics.set(train::kSkippedSamples, static_cast<double>(skipped));
  return metrics;
}

ClassificationTally::ClassificationTally(int64_t classes) : right_per_class_(static_cast<size_t>(classes)) {
  sums_.classes = classes;
  if (classes <= kMaxConfusedClasses) sums_.confusion.assign(static_cast<size_t>(classes * classes), 0);
}

// Of the right ones, some of each class are saved; of the wrong ones, the surest.
void ClassificationTally::keep(const ClassifiedSample& sample) {
  if (sample.label == sample.predicted) {
    const auto most = (kShown + right_per_class_.size() - 1) / right_per_class_.size();
    auto& seen = right_per_class_[static_cast<size_t>(sample.label)];
    if (seen < most && sums_.right.size() < kShown) {
      sums_.right.push_back(sample);
      ++seen;
    }
    return;
  }
  const auto less_sure = [](const auto& a, const auto& b) { return a.probability > b.probability; };
  auto& wrong = sums_.wrong;
  wrong.insert(std::upper_bound(wrong.begin(), wrong.end(), sample, less_sure), sample);
  if (wrong.size() > kShown) wrong.pop_back();
}

std::vector<MeasuredSample> measured(const ClassifiedBatch& batch) {
  const at::Tensor label_column = batch.labels.unsqueeze(1);
  const at::Tensor log_probabilities = batch.logits.log_softmax(1), probabilities = log_probabilities.exp();
  const at::Tensor of_label = log_probabilities.gather(1, label_column).squeeze(1);
  const auto [best, predicted] = probabilities.max(1);
  at::Tensor is_among_five;
  if (probabilities.size(1) > kLikeliest) {
    // Of equal probabilities those of lower numbers come first, as for the class that is predicted.
    const at::Tensor own = probabilities.gather(1, label_column);
    const at::Tensor classes = at::arange(probabilities.size(1), batch.labels.options());
    const at::Tensor first = (probabilities == own).logical_and(classes < label_column);
    is_among_five = (probabilities > own).logical_or(first).sum(1) < kLikeliest;
  }
  const auto labels = batch.labels.accessor<int64_t, 1>(), guesses = predicted.accessor<int64_t, 1>();
  const auto sure = best.accessor<float, 1>(), log_p = of_label.accessor<float, 1>();
  std::vector<MeasuredSample> samples;
  for (int64_t i = 0; i < labels.size(0); ++i)
    samples.push_back({{batch.indices[static_cast<size_t>(i)], labels[i], guesses[i], sure[i]},
                       -static_cast<double>(log_p[i]),
                       is_among_five.defined() && is_among_five.const_data_ptr<bool>()[i],
                       {}});
  if (batch.skipped.empty()) return samples;
  for (const SkippedSample& skipped : batch.skipped)
    samples.push_back({.sample = {skipped.index, skipped.label}, .problem = skipped.problem});
  std::ranges::sort(samples, {}, [](const MeasuredSample& one) { return one.sample.index; });
  return samples;
}

void ClassificationTally::add(const MeasuredSample& measured) {
  if (!measured.problem.empty()) {
    if (sums_.skipped++ == 0) first_problem_ = measured.problem;
    return;
  }
  const ClassifiedSample& sample = measured.sample;
  loss_ += measured.loss;
  right_ += sample.label == sample.predicted ? 1 : 0;
  among_five_ += measured.among_five ? 1 : 0;
  if (!sums_.confusion.empty()) sums_.confusion[static_cast<size_t>(sample.label * sums_.classes + sample.predicted)]++;
  keep(sample);
  ++sums_.samples;
}

ClassificationEvaluation ClassificationTally::finish(const train::SampleWords& words) const {
  ClassificationEvaluation result = sums_;
  if (result.samples == 0 && result.skipped > 0)
    throw std::runtime_error("none of the " + std::to_string(result.skipped) + " " + words.held_out + " " + words.many +
                             " could be read; repair or replace them. The first one: " + first_problem_);
  if (result.samples == 0) return result;
  const auto count = static_cast<double>(result.samples);
  result.loss = loss_ / count;
  result.top1 = static_cast<double>(right_) / count;
  result.top5 = static_cast<double>(among_five_) / count;
  result.top1_stderr = std::sqrt(result.top1 * (1 - result.top1) / count);
  return result;
}

namespace {

using EvaluationJson = nlohmann::ordered_json;

EvaluationJson samples_to_json(const std::vector<ClassifiedSample>& samples) {
  EvaluationJson list = EvaluationJson::array();
  for (const ClassifiedSample& sample : samples)
    list.push_back({sample.index, sample.label, sample.predicted, sample.probability});
  return list;
}

// Both throw for any other type.
int64_t integer(const EvaluationJson& json) { return json.get_ref<const EvaluationJson::number_integer_t&>(); }
const EvaluationJson::array_t& list(const EvaluationJson& json) {
  return json.get_ref<const EvaluationJson::array_t&>();
}

std::vector<ClassifiedSample> samples_from_json(const EvaluationJson& json) {
  std::vector<ClassifiedSample> samples;
  for (const EvaluationJson& sample : list(json))
    samples.push_back({integer(sample.at(0)), integer(sample.at(1)), integer(sample.at(2)), sample.at(3)});
  return samples;
}

EvaluationJson confusion_to_json(const ClassificationEvaluation& evaluation) {
  if (evaluation.confusion.empty()) return nullptr;
  EvaluationJson list = EvaluationJson::array();
  for (size_t i = 0; i < evaluation.confusion.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (evaluation.confusion[i] != 0)
      list.push_back({place / evaluation.classes, place % evaluation.classes, evaluation.confusion[i]});
  }
  return list;
}

/// Nothing where it names other classes.
std::optional<std::vector<int64_t>> confusion_from_json(const EvaluationJson& json, int64_t classes) {
  std::vector<int64_t> counts;
  if (json.is_null() || classes < 1 || classes > kMaxConfusedClasses) return counts;
  counts.assign(static_cast<size_t>(classes * classes), 0);
  for (const EvaluationJson& entry : list(json)) {
    const int64_t truth = integer(entry.at(0)), predicted = integer(entry.at(1));
    if (truth < 0 || truth >= classes || predicted < 0 || predicted >= classes) return std::nullopt;
    counts[static_cast<size_t>(truth * classes + predicted)] = integer(entry.at(2));
  }
  return counts;
}

}  // namespace

std::string to_json(const ClassificationEvaluation& evaluation) {
  return EvaluationJson{{"classes", evaluation.classes},
                        {"samples", evaluation.samples},
                        {"confusion", confusion_to_json(evaluation)},
                        {"right", samples_to_json(evaluation.right)},
                        {"wrong", samples_to_json(evaluation.wrong)}}
      .dump();
}

std::optional<ClassificationEvaluation> evaluation_from_json(const std::string& text) {
  try {
    const auto json = io::parse_json<EvaluationJson>(text);
    ClassificationEvaluation evaluation;
    evaluation.classes = integer(json.at("classes"));
    evaluation.samples = integer(json.at("samples"));
    const auto confusion = confusion_from_json(json.at("confusion"), evaluation.classes);
    if (!confusion) return std::nullopt;
    evaluation.confusion = *confusion;
    evaluation.right = samples_from_json(json.at("right"));
    evaluation.wrong = samples_from_json(json.at("wrong"));
    return evaluation;
  } catch (const EvaluationJson::exception&) {
    return std::nullopt;
  }
}

bool fits(const ClassificationEvaluation& evaluation, int64_t classes, int64_t samples) {
  const auto within = [&](const ClassifiedSample& sample) {
    return sample.index >= 0 && sample.index < samples && sample.label >= 0 && sample.label < classes &&
           sample.predicted >= 0 && sample.predicted < classes;
  };
  int64_t left = evaluation.samples;  // which the matrix has not counted yet
  for (const int64_t count : evaluation.confusion) {
    if (count < 0 || count > left) return false;
    left -= count;
  }
  return evaluation.classes == classes && evaluation.samples >= 0 && evaluation.samples <= samples &&
         std::ranges::all_of(evaluation.right, within) && std::ranges::all_of(evaluation.wrong, within);
}

}  // namespace cachet::tasks
