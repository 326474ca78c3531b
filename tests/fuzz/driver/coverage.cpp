#include "tests/fuzz/driver/coverage.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace {

// Positions share a counter when their addresses hash alike; with some thousands of positions in 64 Ki that is rare.
constexpr size_t kCounters = 1 << 16;
constinit thread_local std::array<uint8_t, kCounters> counts{};
constinit std::array<uint8_t, kCounters> seen{};

/// One bit for 1, 2–3, 4–7, … 128–255 times.
uint8_t magnitude(uint8_t count) { return static_cast<uint8_t>(std::bit_floor(count)); }

}  // namespace

extern "C" void __sanitizer_cov_trace_pc() {
  const auto place = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  uint8_t& count = counts[(place ^ (place >> 16)) % kCounters];
  if (count != 255) ++count;
}

namespace cachet::fuzz {

void start_input() { counts.fill(0); }

bool input_was_new() {
  bool is_new = false;
  for (size_t first = 0; first < kCounters; first += sizeof(uint64_t)) {
    uint64_t eight;
    std::memcpy(&eight, &counts[first], sizeof eight);
    if (eight == 0) continue;
    for (size_t i = first; i < first + sizeof eight; ++i) {
      const uint8_t reached = magnitude(counts[i]);
      if ((seen[i] | reached) == seen[i]) continue;
      seen[i] |= reached;
      is_new = true;
    }
  }
  return is_new;
}

int places_reached() {
  int places = 0;
  for (const uint8_t magnitudes : seen) places += magnitudes != 0;
  return places;
}

}  // namespace cachet::fuzz
