#include "cachet/data/text/encoders/text_encoder.h"

#include <gtest/gtest.h>

#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

TEST(ByteEncoder, DecodingIsTheInverseOfEncoding) {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  const ByteEncoder encoder;
  const std::vector<Token> tokens = encoder.encode(text, 1000).tokens;
  EXPECT_EQ(tokens.size(), 256u);
  EXPECT_EQ(encoder.decode(tokens), text);
  EXPECT_EQ(encoder.decode(std::vector<Token>()), "");
}

TEST(ByteEncoder, PaddingStandsForNoText) {
  const ByteEncoder encoder;
  EXPECT_EQ(encoder.vocabulary().special, SpecialTokens{.padding = 0});
  EXPECT_EQ(encoder.decode(std::vector<Token>{0, 'a' + 1, 0, 'b' + 1, 0}), "ab");
}

TEST(ByteEncoder, DecodingRefusesIdsOfNoByte) {
  const auto complaint = [](Token token) {
    return test::thrown_message<std::out_of_range>([&] { ByteEncoder().decode(std::vector<Token>{token}); });
  };
  EXPECT_EQ(complaint(257), "token 0 is 257, but the ids of the vocabulary are 0 to 256");
  EXPECT_EQ(complaint(-5), "token 0 is -5, but the ids of the vocabulary are 0 to 256");
  EXPECT_NO_THROW(ByteEncoder().decode(std::vector<Token>{256}));
}

}  // namespace
}  // namespace cachet::data
