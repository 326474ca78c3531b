#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Fills a tensor in place from a normal distribution of mean 0, cut off at ±2, as vision transformers are initialised.
at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation = 0.02);

/// While it lives, truncated_normal_ of this thread leaves tensors as they are: for models whose weights are never
/// looked at, or are replaced at once. Drawing them is what building a model takes its time for.
class WithoutInitialization {
 public:
  WithoutInitialization();
  ~WithoutInitialization();
  WithoutInitialization(const WithoutInitialization&) = delete;
  WithoutInitialization& operator=(const WithoutInitialization&) = delete;

 private:
  bool before_;
};

}  // namespace cachet::nn
