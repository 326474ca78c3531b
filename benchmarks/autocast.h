#pragma once

#include <ATen/autocast_mode.h>

namespace cachet::benchmarks {

/// While it lives, and where it is asked to, operators on the CPU run in bfloat16.
class AutocastBFloat16 {
 public:
  explicit AutocastBFloat16(bool on) : on_(on) {
    if (!on) return;
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~AutocastBFloat16() {
    if (!on_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  AutocastBFloat16(const AutocastBFloat16&) = delete;
  AutocastBFloat16& operator=(const AutocastBFloat16&) = delete;

 private:
  bool on_;
};

}  // namespace cachet::benchmarks
