#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::ops {

/// A module whose weight can be laid out once for products (ops::packed_weight), for models that only answer.
class Packable {
 public:
  virtual ~Packable() = default;

  /// Lays out the weight: products alone can read it then, and they have no gradient. Returns the weight of before.
  virtual at::Tensor pack() = 0;
  /// Takes back what pack() returned.
  virtual void unpack(const at::Tensor& weight) = 0;
};

}  // namespace cachet::ops
