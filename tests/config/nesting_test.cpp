#include "cachet/config/nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace cachet::config {
namespace {

std::string repeated(const std::string& text, int64_t count) {
  std::string result;
  for (int64_t i = 0; i < count; ++i) result += text;
  return result;
}

TEST(Nesting, CountsBracketsAndDots) {
  EXPECT_EQ(line_nested_too_deep("a = " + repeated("[", kMaxNesting)), std::nullopt);
  EXPECT_EQ(line_nested_too_deep("\na = " + repeated("[", kMaxNesting + 1)), 2);
  EXPECT_EQ(line_nested_too_deep("\n\na = " + repeated("{a=", kMaxNesting + 1)), 3);
  EXPECT_EQ(line_nested_too_deep(repeated("a.", kMaxNesting - 1) + "a = 1"), std::nullopt);
  EXPECT_EQ(line_nested_too_deep(repeated("a.", kMaxNesting) + "a = 1"), 1);
  EXPECT_EQ(line_nested_too_deep("a = [" + repeated("0.5, ", 1000) + "]"), std::nullopt);
  EXPECT_EQ(line_nested_too_deep(repeated("a.b = 1\n", 1000)), std::nullopt);
  EXPECT_EQ(line_nested_too_deep(repeated("]", 1000)), std::nullopt);
}

TEST(Nesting, PassesOverTextsAndComments) {
  const std::string brackets = repeated("[", 40);
  for (const std::string& text :
       {"a = \"" + brackets + "\"", "a = '" + brackets + "'", "a = \"\"\"\n" + brackets + "\"\"\"",
        "a = '''\n" + brackets + "'''", "a = \"\\\"" + brackets + "\"", "a = \"\"\"\\\"\"\"" + brackets + "\"\"\"",
        "# " + brackets + "\n", "a = \"\"\"" + brackets + "\"\"\"\"\"\nb = 1", "a = \"never closed " + brackets}) {
    EXPECT_EQ(line_nested_too_deep(text), std::nullopt) << text;
  }
}

TEST(Nesting, SeesWhatFollowsATextOrComment) {
  const std::string brackets = repeated("[", 40);
  for (const std::string& text :
       {"a = '\\'\nb = " + brackets, "a = \"\\\\\"\nb = " + brackets, "# \"\nb = " + brackets,
        "a = \"\"\n b = " + brackets, "a = '''''\n'''\nb" + brackets, "a = \"\"\"x\"\"\"\"\"\nb = " + brackets,
        "a = \"open\nb = " + brackets, "a = \"open\\\nb = " + brackets}) {
    EXPECT_NE(line_nested_too_deep(text), std::nullopt) << text;
  }
}

TEST(Nesting, ReadsAMegabyteWithoutRecursion) {
  EXPECT_EQ(line_nested_too_deep(repeated("a.", 500000)), 1);
  EXPECT_EQ(line_nested_too_deep("a = '" + std::string(1000000, '[')), std::nullopt);
}

}  // namespace
}  // namespace cachet::config
