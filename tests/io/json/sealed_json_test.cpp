#include "cachet/io/json/sealed_json.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace cachet::io {
namespace {

TEST(SealedJson, NoticesEveryBitThatChanges) {
  const std::string text = sealed_json(R"({"schema":1,"best":0.1,"name":"ä"})");
  EXPECT_TRUE(is_sealed_json(text));
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string changed = text;
    changed[bit / 8] ^= static_cast<char>(1U << bit % 8);
    EXPECT_FALSE(is_sealed_json(changed)) << "bit " << bit;
  }
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(is_sealed_json(text.substr(0, size))) << size;
  EXPECT_FALSE(is_sealed_json(text + "\n"));
}

TEST(SealedJson, IsWrittenInOneWay) {
  EXPECT_EQ(sealed_json(R"({"a":1})"), sealed_json("{ \"a\" : 1 }"));
  EXPECT_EQ(sealed_json("{}"),
            "{\n  \"digest\": \"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\"\n}\n");
}

TEST(SealedJson, SealsObjectsAlone) {
  for (const char* text : {"", "[]", "7", R"({"digest":"mine"})"})
    EXPECT_THROW(sealed_json(text), std::invalid_argument) << text;
  EXPECT_FALSE(is_sealed_json("[]"));
  EXPECT_FALSE(is_sealed_json(R"({"digest":7})"));
}

}  // namespace
}  // namespace cachet::io
