#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

namespace cachet::ops {

/// The processes among which a batch is split, of which this one is one. Operators that sum over a batch offer their
/// sums here before they apply them, forward and backward. Without one (null) a process has the whole batch.
class BatchReducer {
 public:
  virtual ~BatchReducer() = default;
  /// Adds up `sums` over all processes, in place. All call it in the same order, with tensors of the same size and
  /// dtype.
  virtual void all_reduce(at::Tensor& sums) = 0;
  [[deprecated("all_reduce")]] void add(at::Tensor& sums) { all_reduce(sums); }
};

/// `sums` added up over all processes; `sums` itself without any. Differentiable: what reads the result does so on
/// every process, and so the gradients of all are added up.
at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<BatchReducer>& reducer);

/// The processes of a group of torch.distributed, by its name; null for "". Sums go through the operators that
/// torch.distributed registers with the dispatcher, so that nothing here links it.
std::shared_ptr<BatchReducer> reducer_of_group(std::string_view group);

using Replicas [[deprecated("BatchReducer")]] = BatchReducer;

}  // namespace cachet::ops
