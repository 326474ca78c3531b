#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cachet/ops/support/fused.h"

namespace torch {
class Library;
}

namespace cachet::ops {

/// Registers an unfused form under LibTorch's key for tracing.
using RegisterForTracing = std::function<void(torch::Library& library, const char* name)>;

/// What Operator calls for each unfused form, which ATen operators make up.
void remember_composition(const std::string& name, RegisterForTracing form);

/// While it lives, a trace records the ATen operators of which an operator is composed in place of the operator, so
/// that the graph runs where these operators are unknown. For one thread at a time.
class CompositionsTraced {
 public:
  CompositionsTraced();
  ~CompositionsTraced();
  CompositionsTraced(const CompositionsTraced&) = delete;
  CompositionsTraced& operator=(const CompositionsTraced&) = delete;

 private:
  CompositeOnly composite_;
  std::unique_ptr<torch::Library> library_;
};

}  // namespace cachet::ops
