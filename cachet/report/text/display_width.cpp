#include "cachet/report/text/display_width.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace cachet::report {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct CodePoints {
  char32_t first, last;
};
constexpr std::array<CodePoints, 11> kNoWidth = {{{0x0300, 0x036F},
                                                  {0x0483, 0x0489},
                                                  {0x0591, 0x05BD},
                                                  {0x0610, 0x061A},
                                                  {0x064B, 0x065F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F},
                                                  {0xFEFF, 0xFEFF}}};
constexpr std::array<CodePoints, 11> kWide = {{{0x1100, 0x115F},
                                               {0x2E80, 0x303E},
                                               {0x3041, 0x33FF},
                                               {0x3400, 0x4DBF},
                                               {0x4E00, 0x9FFF},
                                               {0xA000, 0xA4CF},
                                               {0xAC00, 0xD7A3},
                                               {0xF900, 0xFAFF},
                                               {0xFE30, 0xFE6F},
                                               {0xFF00, 0xFF60},
                                               {0x1F300, 0x1FAFF}}};

bool holds(const auto& ranges, char32_t c) {
  const auto above = std::upper_bound(ranges.begin(), ranges.end(), c,
                                      [](char32_t value, const CodePoints& range) { return value < range.first; });
  return above != ranges.begin() && c <= std::prev(above)->last;
}

}  // namespace

char32_t take_code_point(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  char32_t code_point = length == 1 ? lead : length == 2 ? lead & 0x1F : length == 3 ? lead & 0x0F : lead & 0x07;
  bool valid = length > 0 && length <= text.size();
  for (size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xC0) == 0x80;
    code_point = code_point << 6 | (byte(i) & 0x3F);
  }
  // Overlong forms, surrogates and what lies beyond Unicode.
  static constexpr std::array<char32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
  valid =
      valid && code_point >= least[length] && code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
  text.remove_prefix(valid ? length : 1);
  return valid ? code_point : kReplacement;
}

void append_code_point(std::string& text, char32_t c) {
  const auto continuation = [&](int shift) { text += static_cast<char>(0x80 | (c >> shift & 0x3F)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xC0 | c >> 6), continuation(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xE0 | c >> 12), continuation(6), continuation(0);
  } else {
    text += static_cast<char>(0xF0 | c >> 18), continuation(12), continuation(6), continuation(0);
  }
}

int display_width(char32_t c) {
  if (c < 0x20 || (c >= 0x7F && c < 0xA0) || holds(kNoWidth, c)) return 0;
  return holds(kWide, c) ? 2 : 1;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) width += display_width(take_code_point(text));
  return width;
}

std::string fit_width(std::string_view text, int columns, char32_t mark) {
  if (columns <= 0) return "";
  if (display_width(text) <= columns) return std::string(text);
  std::string fitted;
  for (int width = 0;;) {
    const char32_t c = take_code_point(text);
    width += display_width(c);
    if (width > columns - 1) break;
    append_code_point(fitted, c);
  }
  append_code_point(fitted, mark);
  return fitted;
}

}  // namespace cachet::report
