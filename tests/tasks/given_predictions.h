#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/given_samples.h"

namespace cachet::test {

/// What a task says about samples that are given, all `top` classes of each.
inline std::vector<tasks::Prediction> given_predictions(tasks::Task& task, const std::vector<std::string>& samples,
                                                        int64_t top) {
  auto& classification = dynamic_cast<tasks::ClassificationTask&>(task);
  std::vector<tasks::Prediction> predictions;
  size_t next = 0;
  tasks::for_each_given(
      [&]() -> std::optional<tasks::GivenSample> {
        if (next == samples.size()) return std::nullopt;
        const size_t number = next++;
        return tasks::GivenSample{samples[number], "sample " + std::to_string(number)};
      },
      [&](const std::string& sample, int64_t index) {
        predictions.push_back(classification.predict_given(sample, index, {.top = top}));
      });
  return predictions;
}

}  // namespace cachet::test
