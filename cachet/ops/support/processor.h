#pragma once

namespace cachet::ops {

// What the processor has, as far as it decides which of ATen's ways to a result is the fastest. False off x86-64.

bool has_avx512();             // foundation, byte and word, doubleword and quadword, vector length
bool has_amx();                // tiles and their products in bfloat16
bool has_bfloat16_products();  // products in bfloat16, by AMX or by AVX-512
bool is_intel();               // what MKL was tuned for: on others it leaves AVX-512 unused

}  // namespace cachet::ops
