#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/infer_schema.h>

#include <optional>

namespace cachet::ops {

/// Returns the dispatcher's handle of the operator cachet::<name>. `Signature`: the type of the C++ function:
///   static const auto op = operator_handle<decltype(mix_heads)>("cachet::mix_heads");
template <class Signature>
auto operator_handle(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

/// Returns the handle of an internal LibTorch operator. If no operator has this name, if the operator's types differ
/// from those of the C++ function, or if the operator has no CPU form, the result is empty.
template <class Signature>
std::optional<c10::TypedOperatorHandle<Signature>> find_cpu_operator(const char* name) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, ""});
  if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
  if (c10::findSchemaDifferences(c10::inferFunctionSchemaFlattenedReturns<Signature>(), found->schema()))
    return std::nullopt;
  try {
    return found->typed<Signature>();
  } catch (const c10::Error&) {  // the types agree in the schema, but not in C++
    return std::nullopt;
  }
}

}  // namespace cachet::ops
