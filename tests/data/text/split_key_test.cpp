#include "cachet/data/text/split_key.h"

#include <gtest/gtest.h>

namespace cachet::data {
namespace {

TEST(SplitKey, IsTheSameForSpellingsOfOneText) {
  const std::string key = "\u00dcber 1 2";
  for (const char* text : {"\u00dcber 1 2", "U\u0308ber 1 2", "  \u00dcber\t1  2 \r", "\u00dcber\u00a01\u30002",
                           "\uFEFF\u00dcber 1 2", "\u00dcber \uff11 2"})
    EXPECT_EQ(split_key(text), key) << text;
  EXPECT_NE(split_key("\u00fcber 1 2"), key) << "capital letters count";
  EXPECT_NE(split_key("\u00dcber 12"), key);
  EXPECT_EQ(split_key(" \t "), "");
  EXPECT_EQ(split_key("\xff x"), "\xff x") << "a byte that is not UTF-8 stays";
}

}  // namespace
}  // namespace cachet::data
