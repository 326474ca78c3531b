#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// Returns the key by which texts are compared when data are split or searched for repetitions. The key is the text in
/// the form NFKC, without a byte-order mark and without blanks at its ends. Each run of blanks inside the text becomes
/// one space. A model that normalizes its texts reads texts with equal keys as the same sample.
std::string split_key(std::string_view text);

/// Returns the keys of many texts, computed by several threads.
std::vector<std::string> split_keys(std::span<const std::string> texts);

/// Returns the keys by which a sentence and its translation are compared with other pairs. Two pairs with the same
/// sentence in one language have a common key. If a side of the pair has no text, the side's key is empty.
std::array<std::string, 2> pair_keys(std::string source_key, std::string target_key);

}  // namespace cachet::data
