#include "cachet/data/text/text_lines.h"

#include <span>

#include "cachet/io/compression/compressed.h"
#include "cachet/io/files/line_reader.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxUnpackedTextBytes = uint64_t{1} << 33;

}  // namespace

TextFile::TextFile(const std::filesystem::path& path) {
  const std::filesystem::path ending = path.extension();
  if (ending == ".gz" || ending == ".xz") {
    bytes_ = io::read_decompressed(path, kMaxUnpackedTextBytes);
    source_ = std::make_unique<io::MemorySource>(std::as_bytes(std::span(bytes_)));
  } else {
    source_ = std::make_unique<io::FileSource>(path);
  }
}

void for_each_line(const std::filesystem::path& path, const std::function<void(std::string_view line)>& take) {
  const TextFile file(path);
  io::LineReader lines(file.source(), path.string(), kMaxSentenceBytes);
  while (const auto line = lines.next()) take(*line);
}

}  // namespace cachet::data
