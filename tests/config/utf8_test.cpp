#include "cachet/config/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

TEST(Visible, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1B[31m\r\x7F\b"), "a\\x1b[31m\\r\\x7f\\x08");
  EXPECT_EQ(visible(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(visible("\xC2\x9B"), "\\u009b");
  EXPECT_EQ(visible("exe.\xE2\x80\xAEgpj \xE2\x81\xA6x"), "exe.\\u202egpj \\u2066x");
  EXPECT_EQ(visible("\xFFx\xC3"), "\\xffx\\xc3");
  EXPECT_EQ(visible("\xC3\xA9 \xE2\x80\xA6 \xF0\x9F\x99\x82"), "\xC3\xA9 \xE2\x80\xA6 \xF0\x9F\x99\x82");
}

TEST(Visible, LeavesWhatItIsToldTo) {
  EXPECT_EQ(visible("a\n\tb"), "a\n\tb");
  EXPECT_EQ(visible("a\n\tb", "\t"), "a\\n\tb");
  EXPECT_EQ(visible("a\n\tb", ""), "a\\n\\tb");
}

std::string repaired(const std::vector<std::string>& pieces) {
  Utf8Repair repair;
  std::string text;
  for (const std::string& piece : pieces) text += repair.add(piece) + "|";
  return text + repair.finish();
}

TEST(Utf8Repair, KeepsSequencesThatPiecesCut) {
  EXPECT_EQ(repaired({"a\xC3", "\xA9 b"}), "a|\xC3\xA9 b|");
  EXPECT_EQ(repaired({"\xF0", "\x9F", "\x99", "\x82"}), "|||\xF0\x9F\x99\x82|");
  EXPECT_EQ(repaired({"\xE0", "\xA0\x80", "\xED", "\x9F\xBF"}), "|\xE0\xA0\x80||\xED\x9F\xBF|");
}

TEST(Utf8Repair, ReplacesEachByteThatIsNotUtf8) {
  EXPECT_EQ(repaired({"a\xFFz"}), "a\xEF\xBF\xBDz|");
  EXPECT_EQ(repaired({"\x80", "\xC3", "z"}), "\xEF\xBF\xBD||\xEF\xBF\xBDz|");
  EXPECT_EQ(repaired({"\xE0\x80"}), "\xEF\xBF\xBD\xEF\xBF\xBD|") << "an overlong form";
  EXPECT_EQ(repaired({"a", "\xE2\x82"}), "a||\xEF\xBF\xBD\xEF\xBF\xBD") << "the text ends within a sequence";
}

}  // namespace
}  // namespace cachet::config
