// Loaded before all else (LD_PRELOAD), lets MKL and Cachet do on any processor with AVX-512 what they do on an Intel
// with AMX: MKL multiplies by its kernels for AVX-512, which it keeps from other processors, and Cachet by MKL. What
// stays away is AMX itself. For tests of what is done there alone, and for measurements of which library decides a
// ratio (tools/bench intel_kernels).
#include "cachet/ops/support/processor.h"

namespace cachet::ops {

bool is_intel() { return true; }
bool has_amx() { return true; }

}  // namespace cachet::ops

// MKL's own, which all its choices ask.
extern "C" int mkl_serv_intel_cpu_true() { return 1; }
