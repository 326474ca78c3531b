#include "cachet/config/problem.h"

#include <gtest/gtest.h>

#include <vector>

namespace cachet::config {
namespace {

TEST(Origin, NamesFileAndLineOnOneLine) {
  EXPECT_EQ((Origin{"recipes/a.toml", 12}.text()), "recipes/a.toml:12");
  EXPECT_EQ((Origin{"--set", 0}.text()), "--set");
  EXPECT_EQ((Origin{"a\n\x1B[2Jb.toml", 1}.text()), "a??[2Jb.toml:1");
}

TEST(Error, TellsAllProblemsInOrder) {
  std::vector<Problem> problems;
  const auto add = [&](const char* source, int64_t line, const char* key, const char* message) {
    problems.push_back(Problem{Origin{source, line}, key, message});
  };
  add("default", 0, "m.heads", "e");
  add("--set", 0, "a", "d");
  add("b.toml", 10, "z", "c");
  add("b.toml", 9, "y", "b");
  add("b.toml", 9, "x", "b2");
  add("a.toml", 30, "", "a");
  const Error error(problems);
  EXPECT_STREQ(error.what(),
               "a.toml:30: a\nb.toml:9: y: b\nb.toml:9: x: b2\nb.toml:10: z: c\n--set: a: d\n"
               "default: m.heads: e");
  ASSERT_EQ(error.problems().size(), 6u);
  EXPECT_EQ(error.problems().front().origin.source, "a.toml");
}

}  // namespace
}  // namespace cachet::config
