#include "cachet/io/base64.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"

namespace cachet::io {
namespace {

TEST(Base64, GivesTheExamplesOfRfc4648) {
  const std::pair<const char*, const char*> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xFB\xFF", "+/8="}};
  for (const auto& [plain, encoded] : cases) {
    EXPECT_EQ(encode_base64(test::bytes_of(plain)), encoded);
    EXPECT_EQ(test::text_of(decode_base64(encoded)), plain);
  }
}

TEST(Base64, RefusesWhatItWouldNotWrite) {
  for (const char* text : {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zm 9", "Zh==", "Zm9=", "====", "Zm9v\n", "Zm-_"}) {
    EXPECT_THROW(decode_base64(text), Error) << text;
  }
}

}  // namespace
}  // namespace cachet::io
