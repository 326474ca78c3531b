#pragma once

#include <ATen/record_function.h>

#include <functional>
#include <string_view>
#include <vector>

#include "cachet/analysis/cost/operator_rules.h"

namespace cachet::analysis {

/// An operator call that has ended.
struct OperatorCall {
  std::string_view name;               // "aten::linear"
  const OperatorRule* rule = nullptr;  // of an operator that multiplies
  Operands operands;
  std::vector<at::Tensor> outputs;  // those that are tensors
};

/// Which of the calls inside other calls are reported.
enum class NestedCalls {
  none,                 // outermost calls alone
  outside_of_products,  // all but those inside an operator that has a rule
};

/// While it lives, reports each operator call of this thread, on any device, the meta device included. One at a time
/// on a thread.
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
  int64_t closed_ = 0;  // depth inside calls whose inner calls are not reported
  at::CallbackHandle handle_{};
};

}  // namespace cachet::analysis
