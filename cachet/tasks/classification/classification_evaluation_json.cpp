#include <algorithm>
#include <nlohmann/json.hpp>

#include "cachet/io/json/parse_json.h"
#include "cachet/tasks/classification/classification_evaluation.h"

namespace cachet::tasks {
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
