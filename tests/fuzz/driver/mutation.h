#pragma once

#include <random>
#include <string>
#include <vector>

namespace cachet::fuzz {

constexpr size_t kMaxBytes = 1 << 14;

/// Changes an input in one to eight positions: bits, bytes, binary and decimal numbers, pieces removed, repeated, or
/// taken from another input of the corpus. The result has at most kMaxBytes.
std::string mutate(std::string input, const std::vector<std::string>& corpus, std::mt19937_64& random);

}  // namespace cachet::fuzz
