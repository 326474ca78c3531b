#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A sample in a form that people can read: a picture, or the tokens of a text.
struct ShownSample {
  at::Tensor picture{};               // (h, w, 1 or 3) uint8; undefined for texts
  std::vector<std::string> tokens{};  // an empty string for a token without text; tokens can be invalid UTF-8
  std::string name{};                 // the true class, if it is known: "Ankle boot"
  std::string answer{};               // the prediction of a classifier: "Sneaker"
};

/// Shows single samples of a task's evaluation.
class ShowsSamples {
 public:
  virtual ~ShowsSamples() = default;
  /// Runs the model on one evaluation sample alone, and returns this sample. The model must be in evaluation mode.
  virtual ShownSample run_over(int64_t index) = 0;
  /// Returns the class of an evaluation sample, by which samples of different classes can be selected. If samples have
  /// no class, the result is empty.
  virtual std::optional<int64_t> class_of(int64_t /*index*/) const { return std::nullopt; }
};

}  // namespace cachet::tasks
