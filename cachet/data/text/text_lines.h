#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// A sentence's line has at most so many bytes.
inline constexpr size_t kMaxSentenceBytes = size_t{1} << 24;
/// The mark that some programs write before a text in UTF-8. In a training text it stays where it is.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// A file's text without the mark, for results that are made of several files.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// A text's bytes: a plain file is read where it is asked for, .gz and .xz are unpacked as a whole, up to 8 GiB. Throws
/// io::Error that names the file.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path);
  const io::ByteSource& source() const { return *source_; }

 private:
  std::vector<uint8_t> bytes_;
  std::unique_ptr<io::ByteSource> source_;
};

/// Calls `take` with each line, without its end. Throws io::Error that names file and line, for one of more than
/// kMaxSentenceBytes too.
void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view line)>& take);

}  // namespace cachet::data
