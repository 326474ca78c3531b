#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// The largest number of bytes that the line of a sentence may have.
inline constexpr size_t kMaxSentenceBytes = size_t{1} << 24;
/// The byte-order mark that some programs write before a UTF-8 text. In the text of a training corpus, the byte-order
/// mark is not removed.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns a file's text without a byte-order mark, for results that are made from several files.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// The bytes of a text file. A plain file is read on demand; .gz and .xz files are unpacked as a whole, up to 8 GiB.
/// Throws io::Error, which names the file, if the file cannot be read.
class TextFile {
 public:
  explicit TextFile(const std::filesystem::path& path);
  const io::ByteSource& source() const { return *source_; }

 private:
  std::vector<uint8_t> bytes_;
  std::unique_ptr<io::ByteSource> source_;
};

/// Calls `take` with each line, without the line's end. Throws io::Error, which names the file and the line, if reading
/// fails or a line has more than kMaxSentenceBytes.
void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view line)>& take);

}  // namespace cachet::data
