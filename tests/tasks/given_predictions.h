#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/samples/given_samples.h"

namespace cachet::test {

/// Keeps what a task reports about samples that it predicts.
class RecordedPredictions : public tasks::Predictor {
 public:
  explicit RecordedPredictions(tasks::ClassificationTask& task) : task_(task) {}

  tasks::SampleForm sample_form() const override { return task_.sample_form(); }
  std::unique_ptr<tasks::PreparedSample> prepare_given(const std::string& sample) override {
    return task_.prepare_given(sample);
  }
  std::vector<tasks::Record> answer_given(const tasks::PreparedSamples& samples,
                                          const tasks::AnswerOptions& options) override {
    for (tasks::Prediction& prediction : task_.predict_given(samples, options))
      predictions.push_back(std::move(prediction));
    return std::vector<tasks::Record>(samples.size());
  }

  std::vector<tasks::Prediction> predictions;

 private:
  tasks::ClassificationTask& task_;
};

/// What a task reports about given samples, all `top` classes of each.
inline std::vector<tasks::Prediction> given_predictions(tasks::Task& task, const std::vector<std::string>& samples,
                                                        int64_t top) {
  RecordedPredictions kept(dynamic_cast<tasks::ClassificationTask&>(task));
  size_t next = 0;
  const auto next_sample = [&]() -> std::optional<tasks::GivenSample> {
    if (next == samples.size()) return std::nullopt;
    const size_t number = next++;
    return tasks::GivenSample{samples[number], "sample " + std::to_string(number)};
  };
  tasks::answer_all_given(
      kept, next_sample, {.answers = {.top = top}}, [](int64_t, const std::string&) { return false; },
      [](const tasks::PreparedSample&, const tasks::Record&) {});
  return std::move(kept.predictions);
}

}  // namespace cachet::test
