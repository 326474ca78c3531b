#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cachet::io {

/// Mixes `count` blocks of 64 bytes into the state (FIPS 180-4, section 6.2.2).
using Sha256Blocks = void (*)(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);

void sha256_blocks_portable(std::array<uint32_t, 8>& state, const uint8_t* blocks, size_t count);

/// Returns a function that uses the processor's SHA instructions, or null if the processor or the compiler has none.
Sha256Blocks sha256_blocks_native();

}  // namespace cachet::io
