#include "cachet/io/json/json_cursor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

double number_of(std::string_view text) {
  JsonCursor cursor(text, "x", "JSON");
  const double number = cursor.number("a width");
  cursor.end();
  return number;
}

std::string refused_number(std::string_view text) {
  return test::thrown_message<Error>([&] { number_of(text); });
}

TEST(JsonCursor, ReadsNumbers) {
  EXPECT_EQ(number_of("0"), 0);
  EXPECT_EQ(number_of(" -1.5e2 "), -150);
  EXPECT_EQ(number_of("0.1"), 0.1);
  EXPECT_EQ(number_of("1E+2"), 100);
  EXPECT_EQ(number_of("1e999"), INFINITY);
  EXPECT_EQ(number_of("-1e999"), -INFINITY);
  EXPECT_EQ(number_of("1e-999"), 0);
  EXPECT_EQ(number_of("0." + std::string(500, '0') + "1"), 0);
  EXPECT_EQ(number_of(std::string(400, '9')), INFINITY);
  EXPECT_EQ(number_of("Infinity"), INFINITY);
  EXPECT_EQ(number_of("-Infinity"), -INFINITY);
  EXPECT_TRUE(std::isnan(number_of("NaN")));
}

TEST(JsonCursor, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "\"1\"", "true", "+1", ".5", "nan"})
    EXPECT_EQ(refused_number(text), "x: JSON byte 0: a width must be a number") << text;
  for (const char* text : {"01", "-", "1.", "1.e5", "1e", "1e+", "00"})
    EXPECT_EQ(refused_number(text), "x: JSON byte 0: this is not a JSON value") << text;
  EXPECT_EQ(refused_number("1 2"), "x: JSON byte 2: the text continues after the JSON object");
}

std::string refused_value(std::string_view text, int depth = 16) {
  return test::thrown_message<Error>([&] {
    JsonCursor cursor(text, "x", "JSON");
    cursor.skip_value(depth);
    cursor.end();
  });
}

TEST(JsonCursor, SkipsValues) {
  for (const char* text : {"1", "-0.5", "\"a\\n\"", "[]", "{}", "[1, [2, {\"a\": null}], true, false]", "NaN",
                           " { \"a\" : [ ] , \"b\" : \"\" } "})
    EXPECT_EQ(refused_value(text), "(nothing thrown)") << text;
  EXPECT_EQ(refused_value("[[1]]", 2), "(nothing thrown)");
  EXPECT_EQ(refused_value("[[1]]", 1), "x: JSON byte 1: objects and arrays are nested too deeply");
  EXPECT_EQ(refused_value(std::string(100000, '[')), "x: JSON byte 16: objects and arrays are nested too deeply");
  EXPECT_EQ(refused_value(""), "x: JSON byte 0: the JSON ends, but a value is missing");
  EXPECT_EQ(refused_value("[1,]"), "x: JSON byte 3: this is not a JSON value");
  EXPECT_EQ(refused_value("{\"a\" 1}"), "x: JSON byte 5: expected ':'");
  EXPECT_EQ(refused_value("{1: 2}"), "x: JSON byte 1: a key must be a string");
  EXPECT_EQ(refused_value("[1 2]"), "x: JSON byte 3: expected ']'");
  EXPECT_EQ(refused_value("tru"), "x: JSON byte 0: this is not a JSON value");
  EXPECT_EQ(refused_value("\"\xFF\""), "x: JSON byte 2: the JSON is not UTF-8");
}

}  // namespace
}  // namespace cachet::io
