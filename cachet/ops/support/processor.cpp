#include "cachet/ops/support/processor.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

namespace cachet::ops {

#ifdef __x86_64__

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}

bool has_amx() {
  static const bool has = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr unsigned kTiles = 1U << 24, kBFloat16 = 1U << 22;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & kTiles) != 0 && (edx & kBFloat16) != 0;
  }();
  return has;
}

bool has_bfloat16_products() {
  static const bool has = has_amx() || __builtin_cpu_supports("avx512bf16");
  return has;
}

bool is_intel() {
  static const bool is = __builtin_cpu_is("intel");
  return is;
}

#else

bool has_avx512() { return false; }
bool has_amx() { return false; }
bool has_bfloat16_products() { return false; }
bool is_intel() { return false; }

#endif

}  // namespace cachet::ops
