#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>

namespace cachet::data {

/// The characters that separate the words of a line.
inline constexpr std::string_view kWordBlanks = " \t\v\f\r";

inline constexpr size_t kAnyWord = std::numeric_limits<size_t>::max();

/// Passes a text (plain, .gz or .xz) to `use` piece by piece, so that memory never holds the whole text. A piece
/// consists of whole lines with about 16 MiB in all, or more if a line is longer. Throws io::Error, which names the
/// file, for an unreadable text, or as soon as more than `longest_word` bytes of one word are read.
void for_each_piece(const std::filesystem::path& text, const std::function<void(std::string_view lines)>& use,
                    size_t longest_word = kAnyWord);

}  // namespace cachet::data
