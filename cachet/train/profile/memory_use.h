#pragma once

#include <cstdint>
#include <optional>

namespace cachet::train {

/// The memory of training steps at its peak, in bytes.
struct MemoryUse {
  int64_t weights = 0;                     // parameters
  int64_t states = 0;                      // states of caches and norms, with their copies for the parts of a step
  int64_t gradients = 0;                   // gradients of the parameters
  int64_t optimizer = 0;                   // state of the optimizer, and averages of the weights
  int64_t activations = 0;                 // the rest of the peak: batch, activations, memory of operators
  std::optional<int64_t> batches_ahead{};  // batches that the loader prepares ahead, if their number is known
  bool is_peak_measured = false;           // whether the whole peak was measured, not only the activations

  int64_t fixed() const { return weights + states + gradients + optimizer; }
  int64_t total() const { return fixed() + activations + batches_ahead.value_or(0); }
};

/// Returns `use` with the activations, if the tensors that the steps allocated grew by `bytes` at most.
/// `new_gradients`: whether the steps allocated their gradients.
MemoryUse with_growth(MemoryUse use, int64_t bytes, bool new_gradients);

/// Returns `use` with the activations, if the whole peak was `bytes`.
MemoryUse with_peak(MemoryUse use, int64_t bytes);

}  // namespace cachet::train
