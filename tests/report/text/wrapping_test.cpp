#include "cachet/report/text/wrapping.h"

#include <gtest/gtest.h>

namespace cachet::report {
namespace {

using Lines = std::vector<std::string>;

TEST(WrappingTest, LinesBreakAtBlanks) {
  EXPECT_EQ(wrapped_lines("one two  three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped_lines("one two  three", 6), (Lines{"one", "two", "three"}));
  EXPECT_EQ(wrapped_lines("", 6), (Lines{""}));
  EXPECT_EQ(wrapped_lines("  ", 6), (Lines{""}));
}

TEST(WrappingTest, AWordIsBrokenOnlyWhereItIsTooWideAlone) {
  EXPECT_EQ(widest_word("a patch16_224 b"), 11);
  EXPECT_EQ(wrapped_lines("a patch16_224 b", 11), (Lines{"a", "patch16_224", "b"}));
  EXPECT_EQ(wrapped_lines("a patch16_224 b", 10), (Lines{"a", "patch16_", "224 b"}));
  EXPECT_EQ(wrapped_lines("patches", 3), (Lines{"pat", "che", "s"}));
  EXPECT_EQ(wrapped_lines("日本", 1), (Lines{"日", "本"})) << "a letter at least";
}

TEST(WrappingTest, PathsBreakBehindTheirSlashes) {
  EXPECT_EQ(wrapped_lines("in /srv/shared/data-sets/images", 16), (Lines{"in /srv/shared/", "data-sets/images"}));
  EXPECT_EQ(wrapped_lines("1,300 images/s", 9), (Lines{"1,300", "images/s"}));
  EXPECT_EQ(widest_word("images/s"), 8);
}

TEST(WrappingTest, WidthIsWhatIsSeen) { EXPECT_EQ(wrapped_lines("σσσ λλλ", 7), (Lines{"σσσ λλλ"})); }

}  // namespace
}  // namespace cachet::report
