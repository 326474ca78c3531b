#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A model's prediction for one sample.
struct Prediction {
  struct Guess {
    int64_t label = 0;
    double probability = 0;
  };
  int64_t index = 0;             // index in the evaluation split, or among the user's samples
  std::string file, text;        // one of both is set for a user's sample
  int64_t label = -1;            // the true class, if it is known
  std::vector<Guess> top;        // most probable first
  std::vector<double> logits{};  // logit of every class, by label; empty unless requested
};

/// Returns the `count` most probable classes of a row of probabilities (classes).
std::vector<Prediction::Guess> top_guesses(const at::Tensor& probabilities, int64_t count);

/// One line of JSON: {"index":0,"file":…,"label":…,"predicted":…,"top":[{"label":8,"class":"Bag","probability":0.98}]}.
/// For a text, "text" has the beginning of the text. The logits follow "top".
std::string to_json_line(const Prediction& prediction, const std::vector<std::string>& class_names);

}  // namespace cachet::tasks
