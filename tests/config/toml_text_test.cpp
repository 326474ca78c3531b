#include "cachet/config/toml_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <variant>

#include "cachet/config/node.h"
#include "cachet/config/toml_parser.h"

namespace cachet::config {
namespace {

template <class T>
T read_back(const std::string& toml) {
  const Node root = parse_toml("value = " + toml, "written");
  return std::get<T>(find(root, "value")->value);
}

TEST(TomlText, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(toml_text(0.25), "0.25");
  EXPECT_EQ(toml_text(5e-4), "0.0005");
  EXPECT_EQ(toml_text(1e-5), "1e-05");
  EXPECT_EQ(toml_text(100000.0), "100000.0");
  EXPECT_EQ(toml_text(1e22), "1e+22");
  EXPECT_EQ(toml_text(-0.0), "-0.0");
  EXPECT_EQ(toml_text(int64_t{-7}), "-7");
  EXPECT_EQ(toml_text(true), "true");
  EXPECT_EQ(toml_text(std::vector<double>{1, 0.5}), "[1.0, 0.5]");
  EXPECT_EQ(toml_text(std::vector<std::string>{}), "[]");
}

TEST(TomlText, ReadsBackAsTheSameFloat) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.1, 1.0 / 3, 1e-4, 9.9e-5, 1e15, 1e16, 123456789012345680.0, Limits::max(),
                             Limits::min(), Limits::denorm_min(), -Limits::max(), Limits::epsilon()}) {
    const double back = read_back<double>(toml_text(value));
    EXPECT_EQ(back, value) << toml_text(value);
    EXPECT_EQ(std::signbit(back), std::signbit(value));
  }
  EXPECT_TRUE(std::isnan(read_back<double>(toml_text(Limits::quiet_NaN()))));
  EXPECT_EQ(read_back<double>(toml_text(-Limits::infinity())), -Limits::infinity());
}

TEST(TomlText, ReadsBackAsTheSameInteger) {
  for (const int64_t value : {std::numeric_limits<int64_t>::min(), int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(read_back<int64_t>(toml_text(value)), value);
  }
}

TEST(TomlText, ReadsBackAsTheSameText) {
  std::string ascii;
  for (int c = 1; c < 128; ++c) ascii += static_cast<char>(c);  // a NUL is refused in files, and so never in a value
  for (const std::string& value : {ascii, std::string("a\"b\\c'"), std::string("\xE7\x8C\xAB"), std::string()}) {
    EXPECT_EQ(read_back<std::string>(toml_text(value)), value);
  }
  EXPECT_EQ(toml_text(std::string("\x1B\n")), "\"\\u001B\\n\"");
}

TEST(TomlKey, QuotesWhatIsNotBare) {
  EXPECT_EQ(toml_key("batch_size-2"), "batch_size-2");
  EXPECT_EQ(toml_key(""), "\"\"");
  EXPECT_EQ(toml_key("a.b"), "\"a.b\"");
  EXPECT_EQ(toml_key("\xC3\xA9"), "\"\xC3\xA9\"");
}

}  // namespace
}  // namespace cachet::config
