#include "cachet/tasks/own_data/text_encodings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/error.h"
#include "tests/support/temporary_directory.h"

namespace cachet::tasks {
namespace {

TEST(TextEncodings, AreReadAsUtf8) {
  TextEncoding encoding;
  EXPECT_EQ(as_utf8("caf\xC3\xA9", &encoding), "caf\xC3\xA9");
  EXPECT_EQ(encoding.name, "UTF-8");
  EXPECT_EQ(as_utf8("\xEF\xBB\xBF"
                    "a\r\nb\rc",
                    &encoding),
            "a\nb\nc");
  EXPECT_EQ(as_utf8("caf\xE9 \x80\x96", &encoding), "caf\xC3\xA9 \xE2\x82\xAC\xE2\x80\x93");
  EXPECT_EQ(encoding.name, "Windows-1252");
  using namespace std::string_view_literals;
  EXPECT_EQ(as_utf8("\xFF\xFE"
                    "a\0\xE9\0\x3D\xD8\x00\xDE"sv,
                    &encoding),
            "a\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(encoding.name, "UTF-16");
  EXPECT_EQ(as_utf8("\xFE\xFF\0a\xD8\x3D"sv, &encoding), "a\xEF\xBF\xBD") << "half of a pair";
}

TEST(TextEncodings, AreFoundForEachLine) {
  TextEncoding encoding;
  EXPECT_EQ(as_utf8("Z\xC3\xBCrich\r\nZ\xFCrich\nBern\n\xE9", &encoding),
            "Z\xC3\xBCrich\nZ\xC3\xBCrich\nBern\n\xC3\xA9");
  EXPECT_EQ(encoding.name, "Windows-1252");
  EXPECT_EQ(encoding.lines, 2);
  EXPECT_EQ(encoding.first_line, 2);
}

TEST(TextEncodings, Utf16WithoutAMarkIsFoundByItsZeroBytes) {
  using namespace std::string_view_literals;
  TextEncoding encoding;
  EXPECT_EQ(as_utf8("a\0\xE9\0\n\0"sv, &encoding), "a\xC3\xA9\n");
  EXPECT_EQ(encoding.name, "UTF-16");
  EXPECT_EQ(as_utf8("\0a\0b\x04\x10\0\r\0\n"sv, &encoding), "ab\xD0\x90\n");
  EXPECT_EQ(encoding.name, "UTF-16");
}

TEST(TextEncodings, OtherZeroBytesAreRefused) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {"one line\nof\0text, and its end\n"sv, "a\n\0\0\0"sv, "ab\n\0c"sv}) {
    try {
      as_utf8(text);
      FAIL() << "nothing was refused";
    } catch (const io::Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "line 2 has a zero byte, so this is not a text in UTF-8; save the text as UTF-8");
    }
  }
}

TEST(TextEncodings, AreNotedWithTheFirstLine) {
  const test::TemporaryDirectory folder;
  const auto written = [&](const char* name, const std::string& text) {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
    return folder.path() / name;
  };
  const auto mixed = written("mixed.txt", "Z\xC3\xBCrich\nZ\xFCrich\nZ\xFCrich\n"),
             plain = written("plain.txt", "Bern\n"), zero = written("zero.txt", std::string("text a\0b text\n", 14));
  TextReader one, two;
  EXPECT_EQ(one.read(mixed), "Z\xC3\xBCrich\nZ\xC3\xBCrich\nZ\xC3\xBCrich\n");
  EXPECT_EQ(one.note(), mixed.string() + ":2 and 1 other line are not UTF-8 and were read as Windows-1252");
  two.read(plain);
  EXPECT_EQ(two.note(), "");
  two.read(mixed);
  EXPECT_EQ(two.note(),
            "1 of 2 files is not UTF-8 and was read as Windows-1252: " + mixed.string() + ":2 and 1 other line");
  try {
    one.read(zero);
    FAIL() << "nothing was refused";
  } catch (const io::Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(zero.string() + ": line 1 has a zero byte")) << error.what();
  }
}

TEST(TextEncodings, AreCutIntoLines) {
  EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(lines_of("").empty());
}

}  // namespace
}  // namespace cachet::tasks
