#include "cachet/data/text/token_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "cachet/io/error.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet {
namespace {

namespace fs = std::filesystem;
using data::Token;
using data::TokenFile;
using data::TokenFileFacts;
using data::TokenFileWriter;

std::vector<Token> some_tokens(int64_t count, int64_t vocabulary) {
  std::vector<Token> tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(static_cast<Token>(i * i * 7919 % vocabulary));
  return tokens;
}

fs::path write_tokens(const fs::path& path, const std::vector<Token>& tokens, int64_t vocabulary) {
  TokenFileWriter writer(path, {.size = vocabulary, .fingerprint = "words"});
  writer.add(tokens);
  writer.add_text(1000, 900);
  writer.finish();
  return path;
}

TEST(TokenFile, GivesAnyPieceOfWhatWasWritten) {
  const test::TemporaryDirectory folder;
  for (const int64_t vocabulary : {1, 257, 65'536, 65'537, 267'735}) {
    const std::vector<Token> tokens = some_tokens(700'001, vocabulary);
    const TokenFile file = TokenFile::open(write_tokens(folder.path() / "t.tokens", tokens, vocabulary));
    EXPECT_EQ(file.facts(), (TokenFileFacts{vocabulary, "words", 700'001, 1000, 900}));
    EXPECT_EQ(fs::file_size(folder.path() / "t.tokens"), 128u + 700'001u * (vocabulary <= 65'536 ? 2 : 4));
    for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {0, 1}, {0, 700'001}, {699'999, 2}, {700'001, 0}, {2047, 5000}}) {
      std::vector<int64_t> read(static_cast<size_t>(count));
      file.read(first, count, read.data());
      EXPECT_TRUE(std::equal(read.begin(), read.end(), tokens.begin() + first)) << first << " " << count;
    }
    EXPECT_THROW(file.read(700'000, 2, nullptr), std::out_of_range);
    EXPECT_THROW(file.read(-1, 1, nullptr), std::out_of_range);
  }
}

TEST(TokenFile, OneThatIsNotFinishedLeavesNothing) {
  const test::TemporaryDirectory folder;
  { TokenFileWriter(folder.path() / "t.tokens", {.size = 9, .fingerprint = "w"}).add(std::vector<Token>{1, 2}); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
  TokenFileWriter writer(folder.path() / "t.tokens", {.size = 9, .fingerprint = "w"});
  EXPECT_THROW(writer.add(std::vector<Token>{9}), std::invalid_argument);
  EXPECT_THROW(writer.add(std::vector<Token>{-1}), std::invalid_argument);
  EXPECT_THROW(TokenFileWriter(folder.path() / "x", {.size = 0}), std::invalid_argument);
  EXPECT_THROW(TokenFileWriter(folder.path() / "x", {.size = 5, .fingerprint = std::string(65, 'a')}),
               std::invalid_argument);
}

TEST(TokenFile, RefusesADamagedOne) {
  const test::TemporaryDirectory folder;
  const fs::path path = write_tokens(folder.path() / "t.tokens", some_tokens(10, 300), 300);
  const std::string whole = test::read_bytes(path);
  const auto opens = [&](const std::string& bytes) {
    test::write_bytes(path, bytes);
    return test::thrown_message<io::Error>([&] { TokenFile::open(path); });
  };
  const std::string name = path.string() + ": ";
  EXPECT_EQ(opens(whole), "(nothing thrown)");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(opens(whole.substr(0, length)), "(nothing thrown)") << length;
  EXPECT_EQ(opens(whole.substr(0, 100)), name + "is no file of tokens: it ends within its header");
  EXPECT_EQ(opens(whole.substr(0, whole.size() - 2)),
            name + "its header says 10 tokens, and the file holds 9: it is cut off or damaged");
  EXPECT_NE(opens(whole + "x"), "(nothing thrown)");
  EXPECT_NE(opens("CACHTOK2" + whole.substr(8)), "(nothing thrown)");
  for (size_t place = 8; place < 32; ++place) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x40);
    // Another vocabulary that ids of two bytes serve, too, is a matter of its fingerprint.
    if (place != 16 && place != 17) {
      EXPECT_NE(opens(changed), "(nothing thrown)") << place;
    }
  }
  std::string beyond = whole;
  beyond[128 + 6] = beyond[128 + 7] = '\xff';
  test::write_bytes(path, beyond);
  std::vector<int64_t> ids(10);
  EXPECT_EQ(test::thrown_message<io::Error>([&] { TokenFile::open(path).read(0, 10, ids.data()); }),
            name + "token 3 is 65535, and its vocabulary has 300: the file is damaged");
  EXPECT_NE(test::thrown_message<io::Error>([&] { TokenFile::open(folder.path() / "none"); }), "(nothing thrown)");
}

}  // namespace
}  // namespace cachet
