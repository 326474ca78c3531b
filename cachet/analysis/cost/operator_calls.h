#pragma once

#include <ATen/record_function.h>

#include <functional>
#include <string_view>
#include <vector>

#include "cachet/analysis/cost/operator_rules.h"

namespace cachet::analysis {

/// A completed operator call.
struct OperatorCall {
  std::string_view name;               // "aten::linear"
  const OperatorRule* rule = nullptr;  // null unless the operator multiplies
  Operands operands;
  std::vector<at::Tensor> outputs;  // the outputs that are tensors
};

/// Selects the operator calls that are reported if an operator calls other operators.
enum class NestedCalls {
  none,                 // only outermost calls
  outside_of_products,  // all calls except calls inside an operator that has a rule
};

/// During its lifetime, reports each operator call of this thread, on any device, including the meta device. A thread
/// can have only one OperatorCalls at a time.
class OperatorCalls {
 public:
  using Listener = std::function<void(const OperatorCall& call)>;

  OperatorCalls(NestedCalls nested, Listener listener);
  ~OperatorCalls();
  OperatorCalls(const OperatorCalls&) = delete;
  OperatorCalls& operator=(const OperatorCalls&) = delete;

 private:
  static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function);
  static void end(const at::RecordFunction& function, at::ObserverContext* context);
  static inline thread_local OperatorCalls* current_ = nullptr;

  NestedCalls nested_;
  Listener listener_;
  int64_t closed_ = 0;  // number of open calls whose inner calls are not reported
  at::CallbackHandle handle_{};
};

}  // namespace cachet::analysis
