#include "cachet/config/utf8.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

constexpr size_t kValid = std::string_view::npos;

TEST(Utf8, AcceptsTheEdgesOfEveryLength) {
  for (const char* text : {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(first_invalid_utf8(text), kValid) << text;
  }
}

TEST(Utf8, FindsTheFirstBrokenSequence) {
  for (const char* text :
       {"ab\x80", "ab\xC0\x80", "ab\xC1\xBF", "ab\xC2", "ab\xC2z", "ab\xE0\x9F\xBF", "ab\xED\xA0\x80", "ab\xE2\x82",
        "ab\xF0\x8F\xBF\xBF", "ab\xF4\x90\x80\x80", "ab\xF5\x80\x80\x80", "ab\xFF"}) {
    EXPECT_EQ(first_invalid_utf8(text), 2u) << text;
  }
}

TEST(Printable, ReplacesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1B[31m\n\x7F"), "a?[31m??");
  EXPECT_EQ(printable("\xC2\x9B"), "?");  // U+009B begins an escape sequence too
  EXPECT_EQ(printable("\xC3\xA9t\xC3\xA9"), "\xC3\xA9t\xC3\xA9");
  EXPECT_EQ(printable("\xC3"), "?");
  EXPECT_EQ(printable("\xFFx"), "?x");
}

}  // namespace
}  // namespace cachet::config
