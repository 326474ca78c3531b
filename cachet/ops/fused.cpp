#include "cachet/ops/fused.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace cachet::ops {
namespace {

// Backward passes may run on other threads, so this is no thread's own.
std::atomic<int> composite_guards{0};

bool composite_by_environment() {
  static const bool chosen = [] {
    const char* value = std::getenv("CACHET_COMPOSITE");
    return value != nullptr && std::string_view(value) != "" && std::string_view(value) != "0";
  }();
  return chosen;
}

}  // namespace

bool composite_only() { return composite_guards.load(std::memory_order_relaxed) != 0 || composite_by_environment(); }

bool may_fuse(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
         !composite_only();
}

CompositeOnly::CompositeOnly() { ++composite_guards; }
CompositeOnly::~CompositeOnly() { --composite_guards; }

}  // namespace cachet::ops
