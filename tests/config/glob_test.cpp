#include "cachet/config/glob.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

TEST(Glob, MatchesWholeNames) {
  EXPECT_TRUE(glob_matches("vit_tiny", "vit_tiny"));
  EXPECT_FALSE(glob_matches("vit", "vit_tiny"));
  EXPECT_FALSE(glob_matches("vit_tiny_", "vit_tiny"));
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Glob, LetsAStarStandForAnything) {
  EXPECT_TRUE(glob_matches("vit*", "vit_tiny"));
  EXPECT_TRUE(glob_matches("*tiny*", "swin_tiny_patch4"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a**b*", "ab"));
  EXPECT_TRUE(glob_matches("vision*", "vision/demo/plain.toml"));
  EXPECT_TRUE(glob_matches("*ab", "aabab"));  // the star must try again
  EXPECT_FALSE(glob_matches("*ab", "aba"));
  EXPECT_FALSE(glob_matches("a*b", "acbd"));
}

TEST(Glob, KnowsOneCharacterAndSets) {
  EXPECT_TRUE(glob_matches("vit_?", "vit_s"));
  EXPECT_FALSE(glob_matches("vit_?", "vit_"));
  EXPECT_TRUE(glob_matches("pvt_v[12]", "pvt_v2"));
  EXPECT_FALSE(glob_matches("pvt_v[12]", "pvt_v3"));
  EXPECT_TRUE(glob_matches("b[0-5]", "b3"));
  EXPECT_FALSE(glob_matches("b[0-5]", "b6"));
  EXPECT_TRUE(glob_matches("b[!0-5]", "b6"));
  EXPECT_FALSE(glob_matches("b[^0-5]", "b5"));
  EXPECT_TRUE(glob_matches("[]a]", "]"));
  EXPECT_TRUE(glob_matches("[a-]", "-"));
}

TEST(Glob, TakesWhatIsNoPatternAsItIs) {
  EXPECT_TRUE(glob_matches("\\*", "*"));
  EXPECT_FALSE(glob_matches("\\*", "a"));
  EXPECT_TRUE(glob_matches("a[b", "a[b"));
  EXPECT_TRUE(glob_matches("a\\", "a\\"));
}

TEST(Glob, AnswersAtOnceWhereBacktrackingWouldNot) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(2000, 'a')));
}

TEST(Glob, FiltersInOrder) {
  const std::vector<std::string> names{"vit_tiny", "pvt_tiny", "vit_small"};
  EXPECT_EQ(glob_filter("vit*", names), (std::vector<std::string>{"vit_tiny", "vit_small"}));
  EXPECT_EQ(glob_filter("", names), names);
  EXPECT_TRUE(glob_filter("swin*", names).empty());
}

}  // namespace
}  // namespace cachet::config
