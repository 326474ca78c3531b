#pragma once

namespace cachet::ops {

// Properties of the processor that decide which implementation of ATen is the fastest. All are false outside x86-64.

bool has_avx512();             // the parts F, BW, DQ and VL of AVX-512
bool has_amx();                // tiles, and their products in bfloat16
bool has_bfloat16_products();  // products in bfloat16 (AMX or AVX-512)
bool is_intel();               // MKL is tuned for Intel; on other processors it does not use AVX-512

}  // namespace cachet::ops
