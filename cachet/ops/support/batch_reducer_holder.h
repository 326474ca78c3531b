#pragma once

#include <ATen/core/ivalue.h>

#include <memory>
#include <utility>

#include "cachet/ops/support/batch_reducer.h"

namespace cachet::ops {

/// Holds a reducer in an autograd context until the context's backward pass.
struct BatchReducerHolder : torch::CustomClassHolder {
  explicit BatchReducerHolder(std::shared_ptr<BatchReducer> held) : reducer(std::move(held)) {}
  std::shared_ptr<BatchReducer> reducer;
};

inline c10::IValue hold(const std::shared_ptr<BatchReducer>& reducer) {
  return c10::IValue::make_capsule(c10::make_intrusive<BatchReducerHolder>(reducer));
}

inline BatchReducer* held_reducer(const c10::IValue& value) {
  return static_cast<BatchReducerHolder&>(*value.toCapsule()).reducer.get();
}

}  // namespace cachet::ops
