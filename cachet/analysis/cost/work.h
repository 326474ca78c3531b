#pragma once

#include <cstdint>

#include "cachet/models/model.h"

namespace cachet::analysis {

/// What one forward pass does.
struct Work {
  int64_t operations = 0;  // two for each multiply–accumulate of a product, one for each value that others write
  int64_t bytes = 0;       // that operators read and write, were nothing of it in a processor's cache

  friend Work operator-(const Work& a, const Work& b) { return {a.operations - b.operations, a.bytes - b.bytes}; }
  bool operator==(const Work&) const = default;
};

/// The work of a model in evaluation, for one sample of its own size. Changes nothing; runs on the meta device, or on
/// the CPU where LibTorch lacks a shape function there.
Work work_of(const models::Model& model);

}  // namespace cachet::analysis
