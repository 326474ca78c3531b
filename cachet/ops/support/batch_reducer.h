#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

namespace cachet::ops {

/// The processes that share a batch, including this process. An operator that sums over a batch all-reduces its sums
/// over the processes of the BatchReducer before it uses the sums, in forward and backward. If the BatchReducer is
/// null, the process has the whole batch.
class BatchReducer {
 public:
  virtual ~BatchReducer() = default;
  /// Adds up `sums` over all processes, in place. All processes must call all_reduce() in the same order, with tensors
  /// of the same size and dtype.
  virtual void all_reduce(at::Tensor& sums) = 0;
  [[deprecated("all_reduce")]] void add(at::Tensor& sums) { all_reduce(sums); }
};

/// Returns the total of `sums` over all processes, or `sums` itself without a reducer. The backward pass adds up the
/// gradients of all processes, because all processes read the result.
at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<BatchReducer>& reducer);

/// Returns a reducer over the processes of the torch.distributed group `group`, or null for "". Sums use the operators
/// that torch.distributed registers with the dispatcher, so that this library does not link torch.distributed.
std::shared_ptr<BatchReducer> reducer_of_group(std::string_view group);

using Replicas [[deprecated("BatchReducer")]] = BatchReducer;

}  // namespace cachet::ops
