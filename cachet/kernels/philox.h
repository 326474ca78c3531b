#pragma once

#include <cstdint>

#include "cachet/kernels/host_device.h"

namespace cachet::kernels {

// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011): four random words that depend
// only on a counter and a key. Any thread can therefore compute the random words for any counter.
struct Philox {
  static constexpr uint32_t kFirstMultiplier = 0xD2511F53, kSecondMultiplier = 0xCD9E8D57;
  static constexpr uint32_t kFirstKeyStep = 0x9E3779B9, kSecondKeyStep = 0xBB67AE85;
  static constexpr int kRounds = 10;

  struct Words {
    uint32_t word[4];
    CACHET_HOST_DEVICE constexpr uint32_t operator[](int64_t i) const { return word[i]; }
    friend constexpr bool operator==(const Words&, const Words&) = default;
  };
  struct Key {
    uint32_t word[2];
  };

  CACHET_HOST_DEVICE static constexpr Words words(Words counter, Key key) {
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t a = uint64_t{kFirstMultiplier} * counter[0], b = uint64_t{kSecondMultiplier} * counter[2];
      counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key.word[0], static_cast<uint32_t>(b),
                 static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key.word[1], static_cast<uint32_t>(a)};
      key.word[0] += kFirstKeyStep;
      key.word[1] += kSecondKeyStep;
    }
    return counter;
  }
  /// Returns the four random words of a 64-bit counter and a 64-bit key.
  CACHET_HOST_DEVICE static constexpr Words words(uint64_t counter, uint64_t key) {
    return words(Words{{low(counter), low(counter >> 32), 0, 0}}, Key{{low(key), low(key >> 32)}});
  }

 private:
  CACHET_HOST_DEVICE static constexpr uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
};

}  // namespace cachet::kernels
