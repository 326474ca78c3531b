#include "tests/fuzz/driver/mutation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <limits>

namespace cachet::fuzz {
namespace {

using Random = std::mt19937_64;

size_t below(size_t bound, Random& random) { return bound == 0 ? 0 : random() % bound; }

/// Numbers at which sizes, offsets and counts go wrong.
constexpr std::array<uint64_t, 16> kEdges = {
    0, 1, 2, 7, 8, 127, 128, 255, 256, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, ~0ull};

uint64_t number_near_edge(Random& random) { return kEdges[below(kEdges.size(), random)] + below(5, random) - 2; }

void flip_bit(std::string& input, Random& random) { input[below(input.size(), random)] ^= 1 << below(8, random); }

void set_byte(std::string& input, Random& random) { input[below(input.size(), random)] = static_cast<char>(random()); }

/// Overwrites 1, 2, 4 or 8 bytes with a number, the low byte first or last.
void set_number(std::string& input, Random& random) {
  const size_t at = below(input.size(), random), bytes = size_t{1} << below(4, random);
  const uint64_t number = number_near_edge(random);
  const bool low_first = below(2, random) == 0;
  for (size_t i = 0; i < bytes && at + i < input.size(); ++i)
    input[at + i] = static_cast<char>(number >> 8 * (low_first ? i : bytes - 1 - i));
}

/// Replaces a decimal number of a text.
void set_decimal(std::string& input, Random& random) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  auto first = std::find_if(input.begin() + below(input.size(), random), input.end(), is_digit);
  const auto last = std::find_if_not(first, input.end(), is_digit);
  const std::string number = std::to_string(number_near_edge(random));
  input.replace(first, last, (below(4, random) == 0 ? "-" : "") + number);
}

void remove_piece(std::string& input, Random& random) {
  const size_t at = below(input.size(), random);
  input.erase(at, 1 + below(std::min<size_t>(input.size() - at, 64), random));
}

void truncate(std::string& input, Random& random) { input.resize(below(input.size(), random)); }

void insert_piece_of(const std::string& other, std::string& input, Random& random) {
  const size_t at = below(other.size(), random);
  input.insert(below(input.size() + 1, random), other, at, 1 + below(64, random));
}

void mutate_once(std::string& input, const std::vector<std::string>& corpus, Random& random) {
  if (input.empty()) input.push_back(static_cast<char>(random()));
  switch (below(9, random)) {
    case 0:
      return flip_bit(input, random);
    case 1:
      return set_byte(input, random);
    case 2:
      return set_number(input, random);
    case 3:
      return set_decimal(input, random);
    case 4:
      return remove_piece(input, random);
    case 5:
      return below(8, random) == 0 ? truncate(input, random) : set_byte(input, random);
    case 6:
      return insert_piece_of(std::string(input), input, random);
    case 7:
      return insert_piece_of(corpus[below(corpus.size(), random)], input, random);
    default:
      input.insert(below(input.size() + 1, random), 1, static_cast<char>(random()));
  }
}

}  // namespace

std::string mutate(std::string input, const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const size_t changes = size_t{1} << below(4, random);
  for (size_t i = 0; i < changes; ++i) mutate_once(input, corpus, random);
  if (input.size() > kMaxBytes) input.resize(kMaxBytes);
  return input;
}

}  // namespace cachet::fuzz
