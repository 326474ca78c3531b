#include "cachet/config/problem.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

TEST(Origin, NamesFileAndLineOnOneLine) {
  EXPECT_EQ((Origin{"recipes/a.toml", 12}.text()), "recipes/a.toml:12");
  EXPECT_EQ((Origin{"--set", 0}.text()), "--set");
  EXPECT_EQ((Origin{"a\n\x1B[2Jb.toml", 1}.text()), "a??[2Jb.toml:1");
}

TEST(Error, TellsAllProblemsInOrder) {
  const Error error({{{"default", 0}, "m.heads", "e"},
                     {{"--set", 0}, "a", "d"},
                     {{"b.toml", 10}, "z", "c"},
                     {{"b.toml", 9}, "y", "b"},
                     {{"b.toml", 9}, "x", "b2"},
                     {{"a.toml", 30}, "", "a"}});
  EXPECT_STREQ(error.what(),
               "a.toml:30: a\nb.toml:9: y: b\nb.toml:9: x: b2\nb.toml:10: z: c\n--set: a: d\n"
               "default: m.heads: e");
  ASSERT_EQ(error.problems().size(), 6u);
  EXPECT_EQ(error.problems().front().origin.source, "a.toml");
}

}  // namespace
}  // namespace cachet::config
