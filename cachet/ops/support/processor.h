#pragma once

namespace cachet::ops {

// Processor properties that decide which of ATen's implementations is the fastest. All are false outside x86-64.

bool has_avx512();             // foundation, byte and word, doubleword and quadword, vector length
bool has_amx();                // tiles and their products in bfloat16
bool has_bfloat16_products();  // products in bfloat16, by AMX or by AVX-512
bool is_intel();               // MKL is tuned for Intel; on other processors it does not use AVX-512

}  // namespace cachet::ops
