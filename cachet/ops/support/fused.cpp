#include "cachet/ops/support/fused.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace cachet::ops {
namespace {

// Backward passes may run on other threads, so this is not a thread's own.
std::atomic<int> composite_guards{0};

bool composite_by_environment() {
  static const bool chosen = [] {
    const char* value = std::getenv("CACHET_COMPOSITE");
    return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
  }();
  return chosen;
}

bool kernels_read(at::ScalarType type) { return type == at::kFloat || type == at::kBFloat16; }

// Operators that registered a form for CUDA.
std::set<std::string, std::less<>>& cuda_forms() {
  static std::set<std::string, std::less<>> names;
  return names;
}

}  // namespace

bool composite_only() { return composite_guards.load(std::memory_order_relaxed) != 0 || composite_by_environment(); }

FusedOn fused_on(const at::Tensor& x, std::string_view op) {
  if (!kernels_read(x.scalar_type()) || composite_only() || in_function_transform()) return FusedOn::none;
  if (x.device().is_cpu()) return FusedOn::cpu;
  return x.device().is_cuda() && cuda_forms().count(op) > 0 ? FusedOn::cuda : FusedOn::none;
}

void remember_cuda_form(std::string_view op) { cuda_forms().emplace(op); }

bool tuned_for_cpu(const at::Tensor& x) {
  return x.device().is_cpu() && kernels_read(x.scalar_type()) && !composite_only();
}

CompositeOnly::CompositeOnly() { ++composite_guards; }
CompositeOnly::~CompositeOnly() { --composite_guards; }

}  // namespace cachet::ops
