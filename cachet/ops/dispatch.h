#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace cachet::ops {

/// The dispatcher's handle of the operator cachet::<name> with the signature of a C++ function:
///   static const auto op = operator_handle<decltype(mix_heads)>("cachet::mix_heads");
template <class Signature>
auto operator_handle(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace cachet::ops
