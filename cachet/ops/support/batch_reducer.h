#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

namespace cachet::ops {

/// The processes that share a batch, including this one. Operators that sum over a batch all-reduce their sums over
/// these processes before they use them, in forward and backward. Without a reducer (null), a process has the whole
/// batch.
class BatchReducer {
 public:
  virtual ~BatchReducer() = default;
  /// Adds up `sums` over all processes, in place. All processes call it in the same order, with tensors
  /// of the same size and dtype.
  virtual void all_reduce(at::Tensor& sums) = 0;
  [[deprecated("all_reduce")]] void add(at::Tensor& sums) { all_reduce(sums); }
};

/// Returns `sums` added up over all processes, or `sums` itself without a reducer. In backward, the gradients of all
/// processes are added up, because every process reads the result.
at::Tensor sum_over(const at::Tensor& sums, const std::shared_ptr<BatchReducer>& reducer);

/// Returns the processes of the torch.distributed group of this name; null for "". Sums go through the operators that
/// torch.distributed registers with the dispatcher, so that this library does not link it.
std::shared_ptr<BatchReducer> reducer_of_group(std::string_view group);

using Replicas [[deprecated("BatchReducer")]] = BatchReducer;

}  // namespace cachet::ops
