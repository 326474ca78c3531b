#include "cachet/config/near_names.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

using Names = std::vector<std::string>;

TEST(NearNames, FindsOneSlipOfEachKind) {
  const Names known{"epochs", "batch_size", "ratio", "length"};
  EXPECT_EQ(near_names("epoch", known), Names{"epochs"});    // a letter missing
  EXPECT_EQ(near_names("epochss", known), Names{"epochs"});  // one too many
  EXPECT_EQ(near_names("radio", known), Names{"ratio"});     // another one
  EXPECT_EQ(near_names("raito", known), Names{"ratio"});     // two swapped: one slip, so near at a fifth of the length
  EXPECT_EQ(near_names("Batch-Size", known), Names{"batch_size"});
}

TEST(NearNames, IsSilentWhenNothingIsNear) {
  const Names known{"epochs", "lr"};
  EXPECT_TRUE(near_names("momentum", known).empty());
  EXPECT_TRUE(near_names("wd", known).empty());  // a third of two letters is less than one
  EXPECT_TRUE(near_names("", known).empty());
  EXPECT_TRUE(near_names("epochs", Names{}).empty());
  EXPECT_TRUE(near_names(std::string(100000, 'e'), known).empty());
}

TEST(NearNames, AllowsAThirdOfTheLongerName) {
  EXPECT_EQ(near_names("abcdxx", Names{"abcdef"}), Names{"abcdef"});  // 2 of 6
  EXPECT_TRUE(near_names("abcxxx", Names{"abcdef"}).empty());         // 3 of 6
}

TEST(NearNames, CompletesABeginningBehindMisspelledNames) {
  const Names known{"vit_small_patch16_224", "vit_smell", "swin_tiny"};
  EXPECT_EQ(near_names("vit_small", known), (Names{"vit_smell", "vit_small_patch16_224"}));
  EXPECT_TRUE(near_names("sw", known).empty());  // two letters begin too much
}

TEST(NearNames, CompletesABeginningWithASlip) {
  const Names known{"pvt_tiny", "vit_tiny_patch16_384", "vit_small_patch16_224", "vit_tiny_patch16"};
  EXPECT_EQ(near_names("vit_tinny", known), (Names{"vit_tiny_patch16_384", "vit_tiny_patch16", "pvt_tiny"}));
  EXPECT_EQ(near_names("pvt_tinny", known), Names{"pvt_tiny"}) << "a name with one slip";
  EXPECT_TRUE(near_names("vit_tinnny", known).empty());
  EXPECT_TRUE(near_names("vitt", Names{"vit_tiny_patch16_384"}).empty()) << "too short a word";
}

TEST(NearNames, OrdersByDistanceAndKeepsTheMostWanted) {
  const Names known{"ratxx", "ratio", "ratix", "ratio", "ration"};
  EXPECT_EQ(near_names("ratio", known, 2), (Names{"ratio", "ratix"}));
  EXPECT_TRUE(near_names("ratio", known, 0).empty());
}

TEST(Suggestion, ReadsAsASentence) {
  EXPECT_EQ(suggestion("ratioo", Names{"ratio"}), " (did you mean 'ratio'?)");
  EXPECT_EQ(suggestion("aaaa", Names{"aaab", "aaac"}), " (did you mean 'aaab' or 'aaac'?)");
  EXPECT_EQ(suggestion("aaaa", Names{"aaab", "aaac", "aaad"}), " (did you mean 'aaab', 'aaac' or 'aaad'?)");
  EXPECT_EQ(suggestion("zzzz", Names{"ratio"}), "");
}

}  // namespace
}  // namespace cachet::config
