#include "cachet/report/text/display_width.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

TEST(Utf8Test, CodePointsReadBack) {
  for (char32_t c : {U'a', U'\x7F', U'\x80', U'\x7FF', U'\x800', U'\xFFFD', U'\x10000', U'\x10FFFF'}) {
    std::string text;
    append_code_point(text, c);
    std::string_view rest = text;
    EXPECT_EQ(take_code_point(rest), c);
    EXPECT_TRUE(rest.empty());
  }
}

TEST(Utf8Test, WrongBytesAreReplacedOneByOne) {
  for (std::string_view wrong :
       {"\x80", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xC3"}) {
    std::string_view rest = wrong;
    size_t count = 0;
    for (; !rest.empty(); ++count) EXPECT_EQ(take_code_point(rest), U'\xFFFD');
    EXPECT_EQ(count, wrong.size());
  }
  std::string_view cut = "\xE2\x82";  // the euro sign without its last byte, then nothing
  EXPECT_EQ(take_code_point(cut), U'\xFFFD');
}

TEST(Utf8Test, Widths) {
  EXPECT_EQ(display_width("abc"), 3);
  EXPECT_EQ(display_width("σ(λ)"), 4);
  EXPECT_EQ(display_width("漢字"), 4);
  EXPECT_EQ(display_width("e\u0301"), 1);
  EXPECT_EQ(display_width("a\tb"), 2);
}

TEST(Utf8Test, FittedTextIsNeverWider) {
  EXPECT_EQ(fit_width("abcdef", 6), "abcdef");
  EXPECT_EQ(fit_width("abcdef", 4), "abc…");
  EXPECT_EQ(fit_width("漢字漢", 4), "漢…");
  EXPECT_EQ(fit_width("abc", 0), "");
  for (int columns = 0; columns < 12; ++columns) EXPECT_LE(display_width(fit_width("a漢b字c漢d", columns)), columns);
}

}  // namespace
}  // namespace cachet::report
