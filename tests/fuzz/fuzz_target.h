#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cachet::fuzz {

/// What a fuzz program gives its reader. tests/fuzz/<name>_fuzz.cpp defines these two; driver/ does the rest.

/// Reads the input. To accept it and to refuse it with the reader's own error are both right; every other exception,
/// a sanitizer's report, std::abort(), an endless loop or an allocation beyond the cap is a find.
void read(std::span<const uint8_t> input);

/// Well-formed inputs, one for each branch of the format, that mutation starts from.
std::vector<std::string> seeds();

}  // namespace cachet::fuzz
