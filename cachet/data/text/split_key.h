#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// What a text is compared by when data are split or looked through for repetitions: its form NFKC, without blanks at
/// its ends, with one space for each row of blanks within it, and without a byte-order mark before it. Texts with equal
/// keys are the same sample for a model that normalizes its texts.
std::string split_key(std::string_view text);

/// Those of many texts, made by several threads.
std::vector<std::string> split_keys(std::span<const std::string> texts);

/// The keys of a sentence and its translation: pairs that share a sentence of one language share a key. Of a side
/// without a text there is none (an empty key).
std::array<std::string, 2> pair_keys(std::string source_key, std::string target_key);

}  // namespace cachet::data
