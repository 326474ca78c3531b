#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cachet::tasks {

/// A sample as people look at it: a picture, or the tokens of a text.
struct ShownSample {
  at::Tensor picture{};               // (h, w, 1 or 3) uint8; undefined of texts
  std::vector<std::string> tokens{};  // a token without text of its own is empty; may not be UTF-8
  std::string name{};                 // what it is, where that is known: "Ankle boot"
  std::string answer{};               // what the model takes it for, of a classifier: "Sneaker"
};

/// Can show the samples that its evaluation looks at, one by one.
class ShowsSamples {
 public:
  virtual ~ShowsSamples() = default;
  /// Runs the model, which is in evaluation mode, over one evaluation sample alone, and shows what it saw.
  virtual ShownSample run_over(int64_t index) = 0;
  /// The class of an evaluation sample, of which different ones are shown; nothing if samples have no class.
  virtual std::optional<int64_t> class_of(int64_t /*index*/) const { return std::nullopt; }
};

}  // namespace cachet::tasks
