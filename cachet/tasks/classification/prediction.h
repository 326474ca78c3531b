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
  std::string file{}, text{};    // for a user's sample, one of the two is set
  int64_t label = -1;            // the true class, if it is known
  std::vector<Guess> top{};      // the most probable classes, in descending order of probability
  std::vector<double> logits{};  // logit of every class, by label; empty unless requested
  std::string problem{};         // if the sample was skipped: the fault of its image; `top` is then empty
};

/// Returns the `count` most probable classes, given the vector of their probabilities (classes).
std::vector<Prediction::Guess> top_guesses(const at::Tensor& probabilities, int64_t count);

/// Returns {"index":0,"file":…,"label":…,"predicted":…,"top":[{"label":8,"class":"Bag","probability":0.98}]} as a line.
/// For a text, the member "text" has the beginning of the text. If the prediction has logits, they follow the key
/// "top". If the sample was skipped, the line has "error" instead of "predicted" and "top".
std::string to_json_line(const Prediction& prediction, const std::vector<std::string>& class_names);

}  // namespace cachet::tasks
