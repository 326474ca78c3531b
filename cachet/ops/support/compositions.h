#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cachet/ops/support/fused.h"

namespace torch {
class Library;
}

namespace cachet::ops {

/// A function that registers an unfused form under the tracing key of LibTorch.
using RegisterForTracing = std::function<void(torch::Library& library, const char* name)>;

/// Stores an unfused form, which consists of ATen operators. The class Operator calls remember_composition() for each
/// unfused form.
void remember_composition(const std::string& name, RegisterForTracing form);

/// As long as an object of this class exists, a trace records the ATen operators of an operator's unfused form, instead
/// of the operator. The traced graph therefore also runs in programs without Cachet's operators. Only one thread at a
/// time may use the class CompositionsTraced.
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
