#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cachet/tasks/predictions.h"

namespace cachet::test {

/// What a task says about samples that are given, all `top` classes of each.
inline std::vector<tasks::Prediction> given_predictions(tasks::ClassificationTask& task,
                                                        const std::vector<std::string>& samples, int64_t top,
                                                        int64_t first = 0) {
  std::vector<tasks::Prediction> predictions;
  size_t next = 0;
  tasks::predict_given(
      task,
      [&]() -> std::optional<tasks::GivenSample> {
        if (next == samples.size()) return std::nullopt;
        const size_t number = next++;
        return tasks::GivenSample{samples[number], "sample " + std::to_string(number)};
      },
      first, top, [&](const tasks::Prediction& prediction) { predictions.push_back(prediction); });
  return predictions;
}

}  // namespace cachet::test
