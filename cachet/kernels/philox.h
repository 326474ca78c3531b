#pragma once

#include <array>
#include <cstdint>

namespace cachet::kernels {

// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): four random words of a counter
// and a key, and nothing else, so that any thread finds the words of any place.
struct Philox {
  static constexpr uint32_t kMultipliers[2] = {0xD2511F53, 0xCD9E8D57};
  static constexpr uint32_t kKeySteps[2] = {0x9E3779B9, 0xBB67AE85};
  static constexpr int kRounds = 10;

  using Words = std::array<uint32_t, 4>;

  static constexpr Words words(Words counter, std::array<uint32_t, 2> key) {
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t a = uint64_t{kMultipliers[0]} * counter[0], b = uint64_t{kMultipliers[1]} * counter[2];
      counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
                 static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
      key[0] += kKeySteps[0];
      key[1] += kKeySteps[1];
    }
    return counter;
  }
  /// Of a counter and a key of 64 bits.
  static constexpr Words words(uint64_t counter, uint64_t key) {
    const auto low = [](uint64_t x) { return static_cast<uint32_t>(x); };
    return words({low(counter), low(counter >> 32), 0, 0}, {low(key), low(key >> 32)});
  }
};

}  // namespace cachet::kernels
