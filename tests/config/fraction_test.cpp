#include "cachet/config/fraction.h"

#include <gtest/gtest.h>

namespace cachet::config {
namespace {

TEST(Fraction, IsANumberOfPercent) {
  EXPECT_EQ(parse_percent("10 %"), 10);
  EXPECT_EQ(parse_percent("12.5 %"), 12.5);
  EXPECT_EQ(parse_percent("-5 %"), -5);
  for (const char* text : {"", "10", "10%", "%", " %", " 10 %", "10 % ", "10  %", "ten %", "1e1 %", "nan %", "inf %"})
    EXPECT_EQ(parse_percent(text), std::nullopt) << '"' << text << '"';
}

TEST(Fraction, IsWrittenAsItIsRead) {
  EXPECT_EQ(percent_text(10), "10 %");
  EXPECT_EQ(percent_text(12.5), "12.5 %");
  for (const double percent : {0.1, 100.0 / 3, 1e-7, 99.999}) EXPECT_EQ(parse_percent(percent_text(percent)), percent);
}

TEST(Fraction, OfACountIsRoundedDownAndAtLeastOne) {
  EXPECT_EQ(settled_count(10, 6000), 600);
  EXPECT_EQ(settled_count(10, 29), 2);
  EXPECT_EQ(settled_count(10, 3), 1);
  EXPECT_EQ(settled_count(10, 0), 1);
  EXPECT_EQ(settled_count(100, 36), 36);
  for (int64_t whole = 1; whole < 2000; ++whole) {
    ASSERT_EQ(settled_count(0.1, 1000 * whole), whole) << "0.1 has no exact binary form";
    ASSERT_EQ(settled_count(29, 100 * whole), 29 * whole);
  }
}

}  // namespace
}  // namespace cachet::config
