#include "cachet/io/json/parse_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace cachet::io {
namespace {

using Json = nlohmann::json;

std::string nested(size_t levels, char open = '[', char close = ']') {
  return std::string(levels, open) + std::string(levels, close);
}

TEST(ParseJson, ReadsWhatNestsALittle) {
  EXPECT_EQ(parse_json<Json>(R"({"a":[1,"[[[\"{{{"],"b":{}})")["a"][1], "[[[\"{{{");
  EXPECT_TRUE(parse_json<Json>(nested(64)).is_array());
  EXPECT_TRUE(parse_json<Json>("[" + std::string(1000, ' ') + nested(1) + "," + nested(1) + "]").is_array());
  EXPECT_FALSE(nests_deeper_than(R"(["[[[[[[","\\[","\"[[[[["])", 1));
}

TEST(ParseJson, TakesAKeyThatStandsTwiceAsNoJson) {
  for (const char* text : {R"({"a":1,"a":1})", R"([{"b":{"a":1,"c":[],"\u0061":2}}])"}) {
    EXPECT_THROW(parse_json<Json>(text), Json::parse_error) << text;
    EXPECT_TRUE(parse_json<nlohmann::ordered_json>(text, /*throws=*/false).is_discarded()) << text;
  }
  EXPECT_EQ(parse_json<Json>(R"([{"a":1},{"a":{"a":2}}])")[1]["a"]["a"], 2);
}

TEST(ParseJson, TakesWhatNestsDeepAsNoJson) {
  EXPECT_THROW(parse_json<Json>(nested(65)), Json::parse_error);
  EXPECT_TRUE(parse_json<Json>(nested(65), /*throws=*/false).is_discarded());
  for (const size_t levels : {size_t{1000}, size_t{3'000'000}}) {
    EXPECT_TRUE(parse_json<Json>(nested(levels), false).is_discarded());
    EXPECT_TRUE(parse_json<Json>(std::string(levels, '['), false).is_discarded());
  }
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(parse_json<Json>(objects + "1" + std::string(100'000, '}'), false).is_discarded());
}

}  // namespace
}  // namespace cachet::io
