#pragma once

#include <torch/types.h>

#include <vector>

namespace cachet::nn {

/// Means of statistics over all passes of a recalibration (ops::Recalibrated), in float64. All passes weigh the same,
/// unlike in decaying averages (Izmailov et al., arXiv 1803.05407, Sec. 3.2; torch.optim.swa_utils.update_bn).
class RenewedMeans {
 public:
  /// Adds one forward pass's statistics to the means. The scalar tensor `counted` is 1 if the pass has tokens, and 0
  /// otherwise. The order of `statistics` is the same in each call.
  void add(const torch::Tensor& counted, const std::vector<torch::Tensor>& statistics);

  /// Writes the means to `running`, in the order of add(). If no pass had tokens, the tensors `running` do not change.
  void write(const std::vector<torch::Tensor>& running) const;

  /// Returns the number of passes that had tokens, () int64. Before the first pass, returns an undefined tensor.
  const torch::Tensor& passes() const { return passes_; }

 private:
  torch::Tensor passes_;
  std::vector<torch::Tensor> sums_;
};

}  // namespace cachet::nn
