#include "cachet/ops/support/compositions.h"

#include <torch/library.h>

#include <map>

namespace cachet::ops {
namespace {

std::map<std::string, RegisterForTracing>& compositions() {
  static std::map<std::string, RegisterForTracing> all;
  return all;
}

}  // namespace

void remember_composition(const std::string& name, RegisterForTracing form) {
  compositions().emplace(name, std::move(form));
}

CompositionsTraced::CompositionsTraced()
    : library_(std::make_unique<torch::Library>(torch::Library::IMPL, "cachet", c10::DispatchKey::Tracer, __FILE__,
                                                static_cast<uint32_t>(__LINE__))) {
  for (const auto& [name, form] : compositions()) form(*library_, name.c_str());
}

CompositionsTraced::~CompositionsTraced() = default;

}  // namespace cachet::ops
