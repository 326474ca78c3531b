#include "cachet/hub/answer.h"

#include <gtest/gtest.h>

namespace cachet::hub {
namespace {

TEST(AnswerTest, HasTheHeadersOfTheLastStatus) {
  Answer answer;
  for (const char* line :
       {"HTTP/1.1 200 Connection established\r\n", "X-Proxy: a\r\n", "\r\n", "HTTP/1.1 206 Partial\r\n",
        "Content-LENGTH:  12 \r\n", "Content-Range: bytes 100-111/112\r\n", "no colon\r\n"})
    add_header_line(line, answer);
  EXPECT_EQ(answer.header("x-proxy"), "");
  EXPECT_EQ(answer.length(), 12u);
  EXPECT_EQ(answer.size_of_range_from(100), 112u);
  EXPECT_FALSE(answer.size_of_range_from(10));
}

TEST(AnswerTest, HasNoSizeIfTheHeaderIsNoNumber) {
  for (const char* length : {"", "-1", "1 2", "99999999999999999999999", "0x10"}) {
    Answer answer;
    answer.headers["content-length"] = length;
    EXPECT_FALSE(answer.length()) << length;
  }
  Answer answer;
  for (const char* range : {"bytes 0-1/*", "bytes 7-9/3", "bytes 7-9/7", "bytes 7-9", "7-9/10"}) {
    answer.headers["content-range"] = range;
    EXPECT_FALSE(answer.size_of_range_from(0)) << range;
    EXPECT_FALSE(answer.size_of_range_from(7)) << range;
  }
}

}  // namespace
}  // namespace cachet::hub
