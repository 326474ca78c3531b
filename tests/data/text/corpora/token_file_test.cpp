#include "cachet/data/text/corpora/token_file.h"

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
  writer.add_text({1000, 900});
  writer.add_coded({{300, 200}, 1});
  writer.add_coded({{500, 400}, 0});
  writer.finish();
  return path;
}

TEST(TokenFile, GivesAnyPieceOfWhatWasWritten) {
  const test::TemporaryDirectory folder;
  for (const int64_t vocabulary : {1, 257, 65'536, 65'537, 267'735}) {
    const std::vector<Token> tokens = some_tokens(700'001, vocabulary);
    const TokenFile file = TokenFile::open(write_tokens(folder.path() / "t.tokens", tokens, vocabulary));
    EXPECT_EQ(file.facts(),
              (TokenFileFacts{vocabulary, "words", 700'001, {1000, 900}, data::CodedText{{800, 600}, 1}}));
    const uint64_t ids = 700'001u * (vocabulary <= 65'536 ? 2 : 4), blocks = (ids + 65'535) / 65'536;
    EXPECT_EQ(fs::file_size(folder.path() / "t.tokens"), 160u + ids + 4 * blocks);
    EXPECT_FALSE(file.note());
    for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{
             {0, 0}, {0, 1}, {0, 700'001}, {699'999, 2}, {700'001, 0}, {2047, 5000}, {32'767, 2}, {16'383, 40'000}}) {
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
  for (const size_t length : {100, 159})
    EXPECT_EQ(opens(whole.substr(0, length)), name + "is not a token file: the file ends within its header");
  EXPECT_EQ(
      opens(whole.substr(0, whole.size() - 2)),
      name +
          "its header states 10 tokens, but the number of tokens in the file is 9: the file is truncated or damaged");
  EXPECT_NE(opens(whole + "x"), "(nothing thrown)");
  EXPECT_NE(opens("CACHTOK3" + whole.substr(8)), "(nothing thrown)");
  EXPECT_NE(test::thrown_message<io::Error>([&] { TokenFile::open(folder.path() / "none"); }), "(nothing thrown)");
  // Each bit of the file: of the header and the table when it is opened, of the ids when they are read.
  std::vector<int64_t> ids(10);
  for (size_t place = 0; place < whole.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[place] = static_cast<char>(changed[place] ^ (1 << bit));
      const bool of_ids = place >= 160 && place < 180;
      EXPECT_EQ(opens(changed) == "(nothing thrown)", of_ids) << place << " " << bit;
      if (!of_ids) continue;
      EXPECT_EQ(
          test::thrown_message<io::Error>([&] { TokenFile::open(path).read(9, 1, ids.data()); }),
          name + "tokens 0 to 9 are damaged: the checksum is wrong; make the file again with `cachet data tokens`");
    }
  }
}

// As version 0.1.0 wrote it at first: the same without checksums.
std::string of_first_version(std::string bytes, size_t ids) {
  bytes.replace(0, 8, "CACHTOK1");
  bytes.replace(12, 4, std::string("\x80\0\0\0", 4));
  bytes.replace(112, 16, 16, '\0');
  return bytes.substr(0, 128) + bytes.substr(160, ids);
}

TEST(TokenFile, OneWithoutChecksumsIsReadWithANote) {
  const test::TemporaryDirectory folder;
  const std::vector<Token> tokens = some_tokens(40'000, 300);
  const fs::path path = write_tokens(folder.path() / "t.tokens", tokens, 300);
  const std::string whole = of_first_version(test::read_bytes(path), 80'000);
  const auto opens = [&](const std::string& bytes) {
    test::write_bytes(path, bytes);
    return test::thrown_message<io::Error>([&] { TokenFile::open(path); });
  };
  ASSERT_EQ(opens(whole), "(nothing thrown)");
  const TokenFile file = TokenFile::open(path);
  EXPECT_EQ(file.facts(), (TokenFileFacts{300, "words", 40'000, {1000, 900}}));
  EXPECT_NE(file.note().value_or("").find("no checksums"), std::string::npos);
  std::vector<int64_t> ids(40'000);
  file.read(0, 40'000, ids.data());
  EXPECT_TRUE(std::ranges::equal(ids, tokens));
  EXPECT_EQ(opens(whole.substr(0, whole.size() - 2)), path.string() +
                                                          ": its header states 40000 tokens, but the number of tokens "
                                                          "in the file is 39999: the file is truncated or damaged");
  for (size_t place = 8; place < 32; ++place) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x40);
    // Another vocabulary that ids of two bytes serve, too, is a matter of its fingerprint.
    if (place != 16 && place != 17) {
      EXPECT_NE(opens(changed), "(nothing thrown)") << place;
    }
  }
  std::string counted = whole;
  counted[32] = '\1';  // 1 + 3 * 256 bytes of text for 900 characters
  EXPECT_NE(opens(counted).find("900 characters in 769 bytes"), std::string::npos);
  std::string beyond = whole;
  beyond[128 + 6] = beyond[128 + 7] = '\xff';
  test::write_bytes(path, beyond);
  EXPECT_EQ(test::thrown_message<io::Error>([&] { TokenFile::open(path).read(0, 10, ids.data()); }),
            path.string() + ": token 3 is 65535, but the vocabulary has only 300 tokens: the file is damaged");
}

// One block is damaged, and the others are read.
TEST(TokenFile, BlocksAreVerifiedWhenTheyAreRead) {
  const test::TemporaryDirectory folder;
  const fs::path path = write_tokens(folder.path() / "t.tokens", some_tokens(100'000, 300), 300);
  std::string bytes = test::read_bytes(path);
  bytes[128 + 2 * 40'000] ^= 1;  // an id that the vocabulary has, too
  test::write_bytes(path, bytes);
  const TokenFile file = TokenFile::open(path);
  std::vector<int64_t> ids(100'000);
  EXPECT_NO_THROW(file.read(0, 32'768, ids.data()));
  EXPECT_NO_THROW(file.read(65'536, 34'464, ids.data()));
  for (const auto& [first, count] : std::vector<std::pair<int64_t, int64_t>>{{0, 100'000}, {50'000, 1}, {32'767, 2}})
    EXPECT_NE(test::thrown_message<io::Error>([&] {
                file.read(first, count, ids.data());
              }).find("tokens 32768 to 65535 are damaged"),
              std::string::npos)
        << first;
}

}  // namespace
}  // namespace cachet
