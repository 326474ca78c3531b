#include "cachet/hub/web_address.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"

namespace cachet::hub {
namespace {

TEST(WebAddressTest, HasItsParts) {
  const WebAddress address = parse_address("HTTPS://Hub.Example.org:8443/a/b?c=d#e");
  EXPECT_EQ(address.scheme, "https");
  EXPECT_EQ(address.host, "hub.example.org");
  EXPECT_EQ(address.port, 8443);
  EXPECT_EQ(address.target, "/a/b?c=d");
  EXPECT_EQ(address.text(), "https://hub.example.org:8443/a/b?c=d");
  EXPECT_EQ(parse_address("https://example.org:443?x").text(), "https://example.org/?x");
  EXPECT_EQ(parse_address("http://[::1]:80/x").text(), "http://[::1]/x");
}

TEST(WebAddressTest, IsRefusedIfItIsNoneOrUnsafe) {
  for (const char* text : {"",
                           "example.org/x",
                           "ftp://example.org/x",
                           "https://",
                           "https:///x",
                           "https://:443/x",
                           "https://example.org:0/x",
                           "https://example.org:65536/x",
                           "https://example.org:8a/x",
                           "https://me@example.org/x",
                           "https://example.org/a b",
                           "https://example.org/a\nb",
                           "https://exam\\ple.org/x",
                           "https://a:b:80/x",
                           "https://[::1/x",
                           "https://[]/x",
                           "https://[x]/x",
                           "https://a\"b/x",
                           "https://a%2Fb/x",
                           "http://example.org/x",
                           "http://127.0.0.1.example.org/x",
                           "http://127.0.0.256/x",
                           "http://128.0.0.1/x",
                           "http://localhost.example.org/x",
                           "file:///etc/passwd"})
    EXPECT_THROW(parse_address(text), io::Error) << text;
  for (const char* text : {"http://localhost/x", "http://127.0.0.1/x", "http://127.1.2.3:99/x", "http://[::1]/x"})
    EXPECT_TRUE(parse_address(text).is_loopback()) << text;
}

TEST(WebAddressTest, IsOfAnotherOriginWhereSchemeHostOrPortDiffer) {
  const WebAddress address = parse_address("https://localhost/x");
  EXPECT_TRUE(address.has_origin_of(parse_address("https://LOCALHOST:443/y")));
  for (const char* other : {"http://localhost/x", "https://localhost:444/x", "https://localhost.example.org/x"})
    EXPECT_FALSE(address.has_origin_of(parse_address(other))) << other;
}

TEST(WebAddressTest, IsRedirectedAsALocationSays) {
  const WebAddress from = parse_address("https://example.org/a/b?c=/d");
  EXPECT_EQ(redirected(from, "https://other.org/x").text(), "https://other.org/x");
  EXPECT_EQ(redirected(from, "//other.org/x").text(), "https://other.org/x");
  EXPECT_EQ(redirected(from, "/x?y").text(), "https://example.org/x?y");
  EXPECT_EQ(redirected(from, "x").text(), "https://example.org/a/x");
  EXPECT_THROW(redirected(from, "http://127.0.0.1/x"), io::Error);
  EXPECT_THROW(redirected(from, "ftp://example.org/x"), io::Error);
}

TEST(WebAddressTest, IsEncoded) {
  EXPECT_EQ(percent_encoded("refs/pr/1"), "refs%2Fpr%2F1");
  EXPECT_EQ(percent_encoded("a b/ä-._~", "/"), "a%20b/%C3%A4-._~");
}

}  // namespace
}  // namespace cachet::hub
