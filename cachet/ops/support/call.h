#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>

namespace cachet::ops {

/// Connects the dispatcher, which passes the operands one by one, to functions that take them in one struct:
///   struct ScaleCall {
///     at::Tensor x;
///     double factor;
///     template <class Take>
///     auto list(const Take& take) const { return take(x, factor); }
///   };
///   using ScaleForms = Listed<ScaleCall, at::Tensor(const at::Tensor&, double)>;
///   at::Tensor scale_composite(const ScaleCall& call);
///   Operator(m, "scale(Tensor x, float factor) -> Tensor").composite(ScaleForms::form<scale_composite>);
/// The members of the struct have the order of the arguments in the operator's schema. Code that calls the operator
/// passes the members of the struct by list().
template <class Call, class Signature>
struct Listed;

template <class Call, class Result, class... Operands>
struct Listed<Call, Result(Operands...)> {
  using Signature = Result(Operands...);

  /// The function that the dispatcher calls for the operator. The function form() makes the struct from the operands,
  /// and passes the struct to `body`.
  template <Result (*body)(const Call&)>
  static Result form(Operands... operands) {
    return body(Call{std::forward<Operands>(operands)...});
  }

  /// Calls an operator that has the C++ type `Signature`.
  static Result call(const c10::TypedOperatorHandle<Signature>& op, const Call& call) {
    return call.list([&](const auto&... operands) { return op.call(operands...); });
  }
};

}  // namespace cachet::ops
