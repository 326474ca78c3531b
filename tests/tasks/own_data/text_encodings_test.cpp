#include "cachet/tasks/own_data/text_encodings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace cachet::tasks {
namespace {

TEST(TextEncodings, AreReadAsUtf8) {
  std::string encoding;
  EXPECT_EQ(as_utf8("caf\xC3\xA9", &encoding), "caf\xC3\xA9");
  EXPECT_EQ(encoding, "UTF-8");
  EXPECT_EQ(as_utf8("\xEF\xBB\xBF"
                    "a\r\nb\rc",
                    &encoding),
            "a\nb\nc");
  EXPECT_EQ(as_utf8("caf\xE9 \x80\x96", &encoding), "caf\xC3\xA9 \xE2\x82\xAC\xE2\x80\x93");
  EXPECT_EQ(encoding, "Windows-1252");
  using namespace std::string_view_literals;
  EXPECT_EQ(as_utf8("\xFF\xFE"
                    "a\0\xE9\0\x3D\xD8\x00\xDE"sv,
                    &encoding),
            "a\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(encoding, "UTF-16");
  EXPECT_EQ(as_utf8("\xFE\xFF\0a\xD8\x3D"sv, &encoding), "a\xEF\xBF\xBD") << "half of a pair";
}

TEST(TextEncodings, AreCutIntoLines) {
  EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(lines_of("").empty());
}

}  // namespace
}  // namespace cachet::tasks
