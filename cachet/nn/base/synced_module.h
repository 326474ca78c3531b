#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::nn {

/// A module that computes sums over the samples of a batch. With a reducer over the processes that share a batch, the
/// module all-reduces the sums in forward and backward, and its result equals the result of one process with the whole
/// batch.
class SyncedModule {
 public:
  virtual ~SyncedModule() = default;
  /// Sets the reducer. If the reducer is null, this process has the whole batch.
  void use_batch_reducer(std::shared_ptr<ops::BatchReducer> reducer) { reducer_ = std::move(reducer); }
  [[deprecated("use_batch_reducer")]] void use_replicas(std::shared_ptr<ops::BatchReducer> reducer) {
    use_batch_reducer(std::move(reducer));
  }

 protected:
  const std::shared_ptr<ops::BatchReducer>& reducer() const { return reducer_; }
  [[deprecated("reducer")]] const std::shared_ptr<ops::BatchReducer>& replicas() const { return reducer_; }

 private:
  std::shared_ptr<ops::BatchReducer> reducer_;
};

/// In a tree of modules, sets the reducer of all modules that sum over a batch. After this call, all processes must run
/// the same forward and backward passes.
void use_batch_reducer(torch::nn::Module& root, const std::shared_ptr<ops::BatchReducer>& reducer);
[[deprecated("use_batch_reducer")]] inline void use_replicas(torch::nn::Module& root,
                                                             const std::shared_ptr<ops::BatchReducer>& reducer) {
  use_batch_reducer(root, reducer);
}

using Replicated [[deprecated("SyncedModule")]] = SyncedModule;

}  // namespace cachet::nn
