#include "cachet/metrics/blanks.h"

namespace cachet::metrics {
namespace {

unsigned char byte_at(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// U+2000 … U+200A, U+2028, U+2029 and U+202F, after their first byte.
bool is_blank_of_block_20(unsigned char second, unsigned char third) {
  if (second == 0x81) return third == 0x9F;  // U+205F
  return second == 0x80 && ((third >= 0x80 && third <= 0x8A) || third == 0xA8 || third == 0xA9 || third == 0xAF);
}

}  // namespace

size_t blank_at(std::string_view text, size_t at) {
  const unsigned char first = byte_at(text, at);
  if (first == ' ' || (first >= '\t' && first <= '\r') || (first >= 0x1C && first <= 0x1F)) return 1;
  if (first < 0xC2 || first > 0xE3) return 0;
  const unsigned char second = byte_at(text, at + 1), third = byte_at(text, at + 2);
  if (first == 0xC2) return second == 0x85 || second == 0xA0 ? 2 : 0;  // U+0085, U+00A0
  if (first == 0xE1) return second == 0x9A && third == 0x80 ? 3 : 0;   // U+1680
  if (first == 0xE2) return is_blank_of_block_20(second, third) ? 3 : 0;
  return first == 0xE3 && second == 0x80 && third == 0x80 ? 3 : 0;  // U+3000
}

void split_at_blanks(std::string_view text, std::vector<std::string_view>& words) {
  words.clear();
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t blank = blank_at(text, at);
    if (blank == 0) {
      ++at;
      continue;
    }
    if (at > begin) words.push_back(text.substr(begin, at - begin));
    at += blank;
    begin = at;
  }
  if (text.size() > begin) words.push_back(text.substr(begin));
}

}  // namespace cachet::metrics
