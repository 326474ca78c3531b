#include "cachet/data/text/sequences/token_store.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cachet::data {
namespace {

std::vector<Token> held(const TokenView& view) { return {view.begin(), view.end()}; }

TEST(TokenStore, TakesTwoBytesWhereTheVocabularyFitsAndElseFour) {
  EXPECT_EQ(TokenStore(0).bytes_per_token(), 2);
  EXPECT_EQ(TokenStore(65'536).bytes_per_token(), 2);
  EXPECT_EQ(TokenStore(65'537).bytes_per_token(), 4);
  EXPECT_EQ(TokenStore(kMaxTokens).bytes_per_token(), 4);
}

TEST(TokenStore, GivesWhatWasAddedWhateverItsWidth) {
  for (const int64_t vocabulary : {int64_t{65'536}, int64_t{65'537}, kMaxTokens}) {
    TokenStore store(vocabulary);
    const auto last = static_cast<Token>(vocabulary - 1);
    const std::vector<Token> first{0, 1, last}, second{}, third{last, 65'535, 7};
    EXPECT_EQ(store.add(first), 0);
    EXPECT_EQ(store.add(second), 1);
    EXPECT_EQ(store.add(third, /*is_cut=*/true), 2);
    ASSERT_EQ(store.size(), 3);
    EXPECT_EQ(held(store[0]), first);
    EXPECT_TRUE(store[1].empty());
    EXPECT_EQ(held(store[2]), third);
    EXPECT_EQ(store[2][0], last);
    EXPECT_FALSE(store.is_cut(0));
    EXPECT_TRUE(store.is_cut(2));
    std::vector<int64_t> ids(3);
    EXPECT_EQ(store[2].copy_to(ids.data()), ids.data() + 3);
    EXPECT_EQ(ids, (std::vector<int64_t>{last, 65'535, 7}));
  }
}

TEST(TokenStore, ViewsOfBothWidthsAreEqualWhereTheirTokensAre) {
  TokenStore narrow(100), wide(100'000);
  const std::vector<Token> tokens{3, 0, 99};
  narrow.add(tokens);
  wide.add(tokens);
  EXPECT_EQ(narrow[0], wide[0]);
  EXPECT_EQ(narrow[0], TokenView(tokens));
  wide.add(std::vector<Token>{3, 0, 98});
  EXPECT_FALSE(narrow[0] == wide[1]);
  EXPECT_FALSE(narrow[0] == TokenView());
}

TEST(TokenStore, RefusesWhatTheVocabularyDoesNotHave) {
  TokenStore store(10);
  EXPECT_THROW(store.add(std::vector<Token>{9, 10}), std::invalid_argument);
  EXPECT_THROW(store.add(std::vector<Token>{-1}), std::invalid_argument);
  EXPECT_EQ(store.size(), 0) << "nothing of a sequence that was refused is kept";
  EXPECT_EQ(store.add(std::vector<Token>{9}), 0);
  EXPECT_THROW(store[1], std::out_of_range);
  EXPECT_THROW(store[-1], std::out_of_range);
  EXPECT_THROW(TokenStore(-1), std::invalid_argument);
  EXPECT_THROW(TokenStore(kMaxTokens + 1), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::data
