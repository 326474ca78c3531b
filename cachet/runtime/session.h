#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

/// The runtime for exported models. The runtime needs no LibTorch, and it cannot train models.
namespace cachet::runtime {

enum class Element { float32, int64, boolean };

/// One input of a model in the caller's memory, contiguous in row-major order.
struct Input {
  Element element = Element::float32;
  std::vector<int64_t> shape;
  const void* data = nullptr;
};

/// The output of a model: scores (N, classes), contiguous.
struct Scores {
  int64_t samples = 0, classes = 0;
  std::vector<float> values;

  std::span<const float> of(int64_t sample) const {
    return std::span(values).subspan(static_cast<size_t>(sample * classes), static_cast<size_t>(classes));
  }
};

/// The number type in which a model computes matrix products and convolutions. The weights of an int8 model include
/// their scales. In an int8 model, operations other than matrix products and convolutions are in float32.
enum class Precision { float32, bfloat16, int8 };

struct SessionOptions {
  Precision precision = Precision::float32;
  int threads = 0;  // 0: the engine chooses
};

/// A model that is ready to run, on one thread at a time. Several sessions of one model may run at the same time.
class Session {
 public:
  virtual ~Session() = default;
  /// Runs the model. If the inputs do not fit the model, throws std::runtime_error with a one-line message for users.
  virtual Scores run(std::span<const Input> inputs) = 0;
};

}  // namespace cachet::runtime
