#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/tasks/classification_task.h"

namespace cachet::tasks {

/// What a model says about one sample.
struct Prediction {
  struct Guess {
    int64_t label = 0;
    double probability = 0;
  };
  int64_t index = 0;       // in the test split, or among those given
  std::string file, text;  // of a sample that was given: one of both
  int64_t label = -1;      // the truth, where it is known
  std::vector<Guess> top;  // most probable first
};

using SeenPrediction = std::function<void(const Prediction& prediction)>;

/// The `count` most probable classes of a row of probabilities (classes).
std::vector<Prediction::Guess> top_guesses(const at::Tensor& probabilities, int64_t count);

/// Predicts the test samples from `first` on, in order. The model is in evaluation mode.
void predict_test(ClassificationTask& task, int64_t first, int64_t top, const SeenPrediction& seen);

/// A sample that somebody gives, and where it stands, for messages: "list.txt:3"; empty where it names itself.
struct GivenSample {
  std::string text, place;
};
/// Gives the next one; nothing behind the last.
using NextSample = std::function<std::optional<GivenSample>()>;

/// Predicts samples that somebody gives, from the `first` on, in order, each on its own. The model is in evaluation
/// mode. Throws io::Error that names the sample.
void predict_given(ClassificationTask& task, const NextSample& next, int64_t first, int64_t top,
                   const SeenPrediction& seen);

/// One line of JSON: {"index":0,"file":…,"label":…,"predicted":…,"top":[{"label":8,"class":"Bag","probability":0.98}]}.
/// Of a text that was given, its beginning stands under "text".
std::string to_json_line(const Prediction& prediction, const std::vector<std::string>& class_names);

/// How many predictions a file of such lines holds, a torn last line cut off it. Throws std::runtime_error for a file
/// that holds something else.
int64_t resume_predictions(const std::filesystem::path& path);

}  // namespace cachet::tasks
