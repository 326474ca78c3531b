#include "cachet/io/digests/sha256.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "cachet/io/digests/sha256_blocks.h"
#include "tests/support/bytes.h"

namespace cachet::io {
namespace {

struct HashVector {
  std::string message;
  const char* digest;
};

// NIST's examples for SHA-256 and the empty message.
const HashVector kHashVectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    {std::string(1'000'000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
};

TEST(Sha256, GivesThePublishedDigests) {
  for (const HashVector& vector : kHashVectors) EXPECT_EQ(sha256_hex(test::bytes_of(vector.message)), vector.digest);
}

TEST(Sha256, DoesNotDependOnHowTheMessageIsCut) {
  const auto message = test::bytes_of(std::string(300, 'x') + "end");
  const std::string whole = sha256_hex(message);
  for (size_t cut = 0; cut <= message.size(); ++cut) {
    Sha256 hash;
    hash.update(std::span(message).first(cut));
    hash.update(std::span(message).subspan(cut));
    ASSERT_EQ(hex(hash.finish()), whole) << cut;
    ASSERT_EQ(hex(hash.finish()), kHashVectors[0].digest) << "a finished hash starts anew";
  }
}

TEST(Sha256, InstructionsAndPortableCodeAgree) {
  const Sha256Blocks native = sha256_blocks_native();
  if (native == nullptr) GTEST_SKIP() << "this processor has no SHA instructions";
  std::mt19937 chance(1);
  std::vector<uint8_t> blocks(64 * 50);
  std::generate(blocks.begin(), blocks.end(), [&] { return static_cast<uint8_t>(chance()); });
  for (size_t count = 0; count <= 50; ++count) {
    std::array<uint32_t, 8> one = {1, 2, 3, 4, 5, 6, 7, 0xFFFFFFFF}, other = one;
    sha256_blocks_portable(one, blocks.data(), count);
    native(other, blocks.data(), count);
    ASSERT_EQ(one, other) << count;
  }
}

}  // namespace
}  // namespace cachet::io
