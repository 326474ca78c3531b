#include "cachet/data/text/text_pieces.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/packed_bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

class TextPieces : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& bytes) {
    test::write_bytes(folder_ / name, bytes);
    return folder_ / name;
  }
  std::filesystem::path packed(const std::string& name, const std::string& bytes) {
    const test::Bytes made = test::gzip({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    return file(name, {made.begin(), made.end()});
  }
  std::vector<std::string> pieces(const std::filesystem::path& path, size_t longest_word = kAnyWord) {
    std::vector<std::string> all;
    for_each_piece(
        path, [&](std::string_view lines) { all.emplace_back(lines); }, longest_word);
    return all;
  }

  test::TemporaryDirectory folder_;
};

TEST_F(TextPieces, AreOfWholeLinesAndTheText) {
  std::string text;
  while (text.size() < 40'000'000) text += "a line of some words " + std::to_string(text.size()) + "\n";
  text += "without an end";
  for (const auto& path : {file("a.txt", text), packed("a.txt.gz", text)}) {
    const std::vector<std::string> all = pieces(path);
    EXPECT_GE(all.size(), 3U);
    std::string joined;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(i + 1 == all.size() || all[i].back() == '\n');
      EXPECT_LT(all[i].size(), 20'000'000U);
      joined += all[i];
    }
    EXPECT_EQ(joined, text);
  }
  EXPECT_TRUE(pieces(file("empty", "")).empty());
}

TEST_F(TextPieces, ALineThatIsLongerThanAPieceIsOnePiece) {
  const std::string line = std::string(50'000'000, 'x') + "\n", text = "a\n" + line + line + "b";
  for (const auto& path : {file("c.txt", text), packed("c.txt.gz", text)}) {
    std::string joined;
    for (const std::string& piece : pieces(path)) {
      EXPECT_TRUE(piece == "b" || piece.back() == '\n') << piece.size();
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
}

TEST_F(TextPieces, AWordThatIsTooLongIsRefusedWithItsLine) {
  const std::string text = "a b\nc " + std::string(30'000'000, 'x') + "\nd\n";
  for (const auto& path : {file("b.txt", text), packed("b.txt.gz", text)}) {
    EXPECT_EQ(test::thrown_message<io::Error>([&] { pieces(path, 1000); }),
              path.string() + ":2: a word is longer than 1000 bytes");
    EXPECT_EQ(pieces(path).size(), 2U);
  }
}

}  // namespace
}  // namespace cachet::data
