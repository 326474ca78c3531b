#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <limits>
#include <string_view>

namespace cachet::data {

/// The characters that separate words of a text, without ends of lines.
inline constexpr std::string_view kWordBlanks = " \t\v\f\r";

inline constexpr size_t kAnyWord = std::numeric_limits<size_t>::max();

/// Calls `use` with a text (plain, .gz or .xz) piece by piece. Each piece has whole lines and about 16 MiB, or is one
/// longer line. The text is never in memory as a whole. Throws io::Error that names the file; also for a word of more
/// than `longest_word` bytes, as soon as so many of its bytes are read.
void for_each_piece(const std::filesystem::path& text, const std::function<void(std::string_view lines)>& use,
                    size_t longest_word = kAnyWord);

}  // namespace cachet::data
