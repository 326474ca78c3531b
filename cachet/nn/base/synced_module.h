#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::nn {

/// A module that sums over a batch: told of the processes among which the batch is split, it adds up their sums,
/// forward and backward, and is what it would be on the whole batch.
class Replicated {
 public:
  virtual ~Replicated() = default;
  /// null: this process has the whole batch.
  void use_replicas(std::shared_ptr<ops::Replicas> replicas) { replicas_ = std::move(replicas); }

 protected:
  const std::shared_ptr<ops::Replicas>& replicas() const { return replicas_; }

 private:
  std::shared_ptr<ops::Replicas> replicas_;
};

/// Tells all modules of a tree that sum over a batch. Each process must then run the same forward and backward passes.
void use_replicas(torch::nn::Module& root, const std::shared_ptr<ops::Replicas>& replicas);

}  // namespace cachet::nn
