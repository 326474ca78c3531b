#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <utility>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// What an autograd context keeps replicas in until its backward pass.
struct ReplicasHolder : torch::CustomClassHolder {
  explicit ReplicasHolder(std::shared_ptr<Replicas> held) : replicas(std::move(held)) {}
  std::shared_ptr<Replicas> replicas;
};

inline c10::IValue hold(const std::shared_ptr<Replicas>& replicas) {
  return c10::IValue::make_capsule(c10::make_intrusive<ReplicasHolder>(replicas));
}

inline Replicas* held_replicas(const c10::IValue& value) {
  return static_cast<ReplicasHolder&>(*value.toCapsule()).replicas.get();
}

}  // namespace cachet::ops
