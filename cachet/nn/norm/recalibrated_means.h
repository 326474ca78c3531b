#pragma once

#include <torch/types.h>

#include <vector>

namespace cachet::nn {

/// Means of statistics over the passes of a renewal, each pass with the same weight, in float64: what running averages
/// would hold without a decay (Izmailov et al., arXiv 1803.05407, Sec. 3.2; torch.optim.swa_utils.update_bn).
class RenewedMeans {
 public:
  /// counted () : 1 if the pass met tokens, 0 if it did not. `statistics` come in the same order each time.
  void add(const torch::Tensor& counted, const std::vector<torch::Tensor>& statistics);

  /// Puts the means into running statistics, in the order of add(); they stay if no pass counted.
  void write(const std::vector<torch::Tensor>& running) const;

  /// () int64: how many passes counted; undefined before the first pass.
  const torch::Tensor& passes() const { return passes_; }

 private:
  torch::Tensor passes_;
  std::vector<torch::Tensor> sums_;
};

}  // namespace cachet::nn
