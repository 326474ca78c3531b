#pragma once

#include <cstdint>

#include "cachet/models/model.h"

namespace cachet::analysis {

/// The operations and the memory traffic of one forward pass.
struct Work {
  int64_t operations = 0;  // two per multiply–accumulate of a product, one per value that another operator writes
  int64_t bytes = 0;       // bytes that operators read and write if no data are in a processor's cache

  friend Work operator-(const Work& a, const Work& b) { return {a.operations - b.operations, a.bytes - b.bytes}; }
  bool operator==(const Work&) const = default;
};

/// Returns the operations and the memory traffic of a model in evaluation, for one sample of its input size. The model
/// is not changed. The function runs a forward pass on the meta device, or on the CPU if LibTorch lacks a shape
/// function for the meta device.
Work work_of(const models::Model& model);

}  // namespace cachet::analysis
