#pragma once

#include <ATen/autocast_mode.h>

namespace cachet::test {

/// While it lives, operators on the CPU run in bfloat16 where autocast has them do so.
class BFloat16Autocast {
 public:
  BFloat16Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  }
  ~BFloat16Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
  }
  BFloat16Autocast(const BFloat16Autocast&) = delete;
  BFloat16Autocast& operator=(const BFloat16Autocast&) = delete;
};

}  // namespace cachet::test
