// All that touches utf8proc, whose tables and rules for composed characters are used. Its own order of combining marks
// takes the square of their number, which a text of marks alone would make hours of.
#include "cachet/data/text/encoders/unicode_normalization.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

namespace cachet::data {
namespace {

// No character becomes more in any form (U+FDFA becomes 18).
constexpr size_t kMaxParts = 32;
// Characters that are held before they are composed, if the text has a position where it can be split.
constexpr size_t kHeldCharacters = 4096;
// The position before Hangul's final consonants, which is not one of them: it is composed with nothing, and utf8proc
// (2.8) drops it after a syllable.
constexpr utf8proc_int32_t kNoFinalJamo = 0x11A7;

bool is_ascii(unsigned char byte) { return byte < 0x80; }

class Normalizer {
 public:
  Normalizer(TextNormalization form, std::string& out)
      : options_(static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                (form == TextNormalization::nfkc ? UTF8PROC_COMPAT : 0))),
        out_(out) {}

  void add(std::string_view text) {
    while (!text.empty()) {
      const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
      // An ASCII character is composed with none before it.
      if (is_ascii(*bytes) && held_.size() >= kHeldCharacters) flush();
      utf8proc_int32_t character = 0;
      const auto length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size()), &character);
      if (length <= 0) {
        flush();
        out_ += text.front();
        text.remove_prefix(1);
        continue;
      }
      if (character == kNoFinalJamo) {
        flush();
        out_ += text.substr(0, static_cast<size_t>(length));
      } else {
        decompose(character);
      }
      text.remove_prefix(static_cast<size_t>(length));
    }
    flush();
  }

 private:
  void decompose(utf8proc_int32_t character) {
    std::array<utf8proc_int32_t, kMaxParts> parts;
    int ignored = 0;
    const auto count = utf8proc_decompose_char(character, parts.data(), kMaxParts, options_, &ignored);
    if (count < 0 || static_cast<size_t>(count) > kMaxParts)
      throw std::logic_error("utf8proc cannot decompose U+" + std::to_string(character));
    held_.insert(held_.end(), parts.begin(), parts.begin() + count);
  }

  // Marks after a character by their class, those of one class as they come (canonical ordering).
  void order_marks() {
    const auto mark_class = [](utf8proc_int32_t character) {
      return utf8proc_get_property(character)->combining_class;
    };
    const auto is_mark = [&](utf8proc_int32_t character) { return mark_class(character) != 0; };
    for (auto first = std::ranges::find_if(held_, is_mark); first != held_.end();) {
      const auto last = std::find_if_not(first, held_.end(), is_mark);
      if (last - first > 1) std::ranges::stable_sort(first, last, {}, mark_class);
      first = std::find_if(last, held_.end(), is_mark);
    }
  }

  void flush() {
    if (held_.empty()) return;
    order_marks();
    const auto count = utf8proc_normalize_utf32(held_.data(), static_cast<utf8proc_ssize_t>(held_.size()), options_);
    if (count < 0) throw std::logic_error(std::string("utf8proc cannot compose: ") + utf8proc_errmsg(count));
    std::array<utf8proc_uint8_t, 4> bytes;
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const auto length = utf8proc_encode_char(held_[static_cast<size_t>(i)], bytes.data());
      out_.append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(length));
    }
    held_.clear();
  }

  utf8proc_option_t options_;
  std::string& out_;
  std::vector<utf8proc_int32_t> held_;
};

}  // namespace

const char* to_string(TextNormalization form) {
  switch (form) {
    case TextNormalization::none:
      return "none";
    case TextNormalization::nfc:
      return "nfc";
    case TextNormalization::nfkc:
      return "nfkc";
  }
  throw std::logic_error("this normalization has no name");
}

std::string normalized(std::string_view text, TextNormalization form) {
  const auto is_ascii_byte = [](char byte) { return is_ascii(static_cast<unsigned char>(byte)); };
  if (form == TextNormalization::none || std::ranges::all_of(text, is_ascii_byte)) return std::string(text);
  std::string result;
  result.reserve(text.size());
  Normalizer(form, result).add(text);
  return result;
}

}  // namespace cachet::data
