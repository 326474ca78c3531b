#include "cachet/io/digests/sha1.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/bytes.h"

namespace cachet::io {
namespace {

std::string sha1_hex(const std::string& message) {
  Sha1 hash;
  hash.update(test::bytes_of(message));
  return hex(hash.finish());
}

// NIST's examples for SHA-1 and the empty message.
TEST(Sha1, GivesThePublishedDigests) {
  EXPECT_EQ(sha1_hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(sha1_hex(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(Sha1, DoesNotDependOnHowTheMessageIsCut) {
  const std::string message = std::string(300, 'x') + "end", whole = sha1_hex(message);
  const auto bytes = test::bytes_of(message);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    Sha1 hash;
    hash.update(std::span(bytes).first(cut));
    hash.update(std::span(bytes).subspan(cut));
    ASSERT_EQ(hex(hash.finish()), whole) << cut;
  }
}

}  // namespace
}  // namespace cachet::io
