#include "cachet/data/text/text_pieces.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "cachet/io/compression/compressed.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {
namespace {

constexpr uint64_t kMaxTextBytes = uint64_t{1} << 33;
constexpr size_t kPieceOfText = size_t{1} << 24;

/// Puts a text together to whole lines.
class WholeLines {
 public:
  WholeLines(const std::filesystem::path& text, const std::function<void(std::string_view lines)>& use,
             size_t longest_word)
      : text_(text), use_(use), longest_word_(longest_word) {}

  void add(std::string_view more) {
    if (const size_t end = more.rfind('\n'); end != std::string_view::npos) whole_ = held_.size() + end + 1;
    held_ += more;
    require_word();
    if (held_.size() >= kPieceOfText) give(whole_);  // a line that continues stays
  }
  void finish() { give(held_.size()); }

 private:
  /// The last word may continue in the next piece; words that have ended are their reader's.
  void require_word() const {
    if (longest_word_ == kAnyWord) return;
    size_t begin = held_.size();
    while (begin > 0 && held_.size() - begin <= longest_word_ && held_[begin - 1] != '\n' &&
           kWordBlanks.find(held_[begin - 1]) == std::string_view::npos)
      --begin;
    if (held_.size() - begin <= longest_word_) return;
    const int64_t line = lines_ + std::count(held_.begin(), held_.end(), '\n') + 1;
    throw io::Error(text_.string() + ":" + std::to_string(line) + ": a word is longer than " +
                    std::to_string(longest_word_) + " bytes");
  }

  void give(size_t count) {
    if (count == 0) return;
    use_(std::string_view(held_).substr(0, count));
    lines_ += std::count(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count), '\n');
    held_.erase(0, count);
    whole_ = 0;
  }

  const std::filesystem::path& text_;
  const std::function<void(std::string_view lines)>& use_;
  size_t longest_word_;
  std::string held_;
  size_t whole_ = 0;   // bytes of the lines in `held_` that have ended
  int64_t lines_ = 0;  // that were given
};

}  // namespace

void for_each_piece(const std::filesystem::path& text, const std::function<void(std::string_view lines)>& use,
                    size_t longest_word) {
  WholeLines lines(text, use, longest_word);
  const auto add = [&](const auto& bytes) { lines.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()}); };
  if (text.extension() == ".gz" || text.extension() == ".xz")
    io::for_each_decompressed_piece(text, kMaxTextBytes, add);
  else
    io::for_each_piece_of_file(text, kPieceOfText, add);
  lines.finish();
}

}  // namespace cachet::data
