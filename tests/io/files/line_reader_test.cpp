#include "cachet/io/files/line_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/io/error.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

std::vector<std::string> lines_of(const std::string& text, size_t max_line_bytes = 1 << 22) {
  const MemorySource source(std::as_bytes(std::span(text)));
  LineReader reader(source, "a.txt", max_line_bytes);
  std::vector<std::string> lines;
  while (const auto line = reader.next()) {
    lines.emplace_back(*line);
    EXPECT_EQ(reader.number(), static_cast<int64_t>(lines.size()));
  }
  EXPECT_FALSE(reader.next());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LineReader, LinesEndWithOneOrTwoBytesOrTheText) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), Lines{""});
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of("a\n"), Lines{"a"});
  EXPECT_EQ(lines_of("a\r\n\r\nb\rc\n\nd\r"), (Lines{"a", "", "b\rc", "", "d"}));
}

// Pieces are 64 KiB: lines that begin, end and lie across that border, and one of several pieces.
TEST(LineReader, LinesMayLieAcrossPieces) {
  constexpr size_t kPiece = size_t{1} << 16;
  for (const size_t first : {kPiece - 2, kPiece - 1, kPiece, kPiece + 1, 3 * kPiece + 5}) {
    const std::string a(first, 'a'), b(100, 'b');
    EXPECT_EQ(lines_of(a + "\r\n" + b + "\n" + b), (Lines{a, b, b})) << first;
  }
  std::string many;
  Lines expected;
  for (int i = 0; i < 300'000; ++i) {
    expected.push_back(std::to_string(i));
    many += expected.back() + '\n';
  }
  EXPECT_EQ(lines_of(many), expected);
}

// A pipe gives what it has, be it a byte.
TEST(LineReader, LinesOfAStreamAreGivenAsSoonAsTheyAreThere) {
  const std::string text = "one\r\ntwo\n\nlast";
  size_t given = 0;
  LineReader reader(
      [&](std::span<std::byte> bytes) {
        if (given == text.size()) return size_t{0};
        bytes[0] = static_cast<std::byte>(text[given++]);
        return size_t{1};
      },
      "standard input", 10);
  EXPECT_EQ(reader.next(), "one");
  EXPECT_EQ(given, 5u) << "nothing is waited for behind the line's end";
  EXPECT_EQ(reader.next(), "two");
  EXPECT_EQ(reader.next(), "");
  EXPECT_EQ(reader.next(), "last");
  EXPECT_FALSE(reader.next());
}

TEST(LineReader, CapsLinesAndNamesPlaces) {
  EXPECT_EQ(lines_of("abc\nabc", 3), (Lines{"abc", "abc"}));
  EXPECT_EQ(test::thrown_message<Error>([] { lines_of("abc\nabcd\n", 3); }),
            "a.txt:2: the line is longer than 3 bytes");
  EXPECT_EQ(test::thrown_message<Error>([] { lines_of("abcd", 3); }), "a.txt:1: the line is longer than 3 bytes");
}

}  // namespace
}  // namespace cachet::io
