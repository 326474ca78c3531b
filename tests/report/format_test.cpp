#include "cachet/report/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cachet::report {
namespace {

TEST(FormatTest, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(950), "950");
  EXPECT_EQ(format_count(999.4), "999");
  EXPECT_EQ(format_count(999.6), "1.00 k");
  EXPECT_EQ(format_count(22'050'664), "22.1 M");
  EXPECT_EQ(format_count(1.86e9), "1.86 G");
  EXPECT_EQ(format_count(999'600), "1.00 M");
  EXPECT_EQ(format_count(-1500), "-1.50 k");
  EXPECT_EQ(format_count(INFINITY), "inf");
}

TEST(FormatTest, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.0 KiB");
  EXPECT_EQ(format_bytes(5'046'586'573), "4.7 GiB");
  EXPECT_EQ(format_bytes(412LL << 20), "412 MiB");
  EXPECT_EQ(format_bytes((1LL << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<int64_t>::min()), "-8.0 EiB");
}

TEST(FormatTest, DurationsNeverRoundUpToAFullUnit) {
  EXPECT_EQ(format_duration(0), "0 s");
  EXPECT_EQ(format_duration(85e-6), "85 µs");
  EXPECT_EQ(format_duration(0.312), "312 ms");
  EXPECT_EQ(format_duration(0.9996), "1.0 s");
  EXPECT_EQ(format_duration(4.21), "4.2 s");
  EXPECT_EQ(format_duration(59.96), "1m00s");
  EXPECT_EQ(format_duration(65), "1m05s");
  EXPECT_EQ(format_duration(3599.7), "1h00m");
  EXPECT_EQ(format_duration(3725), "1h02m");
  EXPECT_EQ(format_duration(86399), "1d00h");
  EXPECT_EQ(format_duration(76.2 * 3600), "3d04h");
  EXPECT_EQ(format_duration(-65), "-1m05s");
  EXPECT_EQ(format_duration(NAN), "nan");
  EXPECT_EQ(format_duration(1e300), "1.16e295 d");
}

TEST(FormatTest, Numbers) {
  EXPECT_EQ(format_number(0.25), "0.25");
  EXPECT_EQ(format_number(3e-5), "3e-05");
  EXPECT_EQ(format_number(1234.5, 5), "1234.5");
  EXPECT_EQ(format_number(999'999, 4), "1e06");
  EXPECT_EQ(format_number(9.9996, 4), "10");
  EXPECT_EQ(format_number(0.00099999, 4), "0.001");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(100), "100");
  EXPECT_EQ(format_number(-INFINITY), "-inf");
  EXPECT_EQ(format_fixed(-0.001, 2), "0.00");
  EXPECT_EQ(format_fixed(1e308, 0).size(), 309u);
  EXPECT_EQ(format_percent(0.8741), "87.4 %");
  EXPECT_EQ(format_percent(NAN), "nan");
}

TEST(Format, ShortCountsHaveTwoDigits) {
  EXPECT_EQ(format_short_count(0), "0");
  EXPECT_EQ(format_short_count(3.42), "3.4");
  EXPECT_EQ(format_short_count(3), "3");
  EXPECT_EQ(format_short_count(312.4), "312");
  EXPECT_EQ(format_short_count(999.6), "1k");
  EXPECT_EQ(format_short_count(2812), "2.8k");
  EXPECT_EQ(format_short_count(28'123), "28k");
  EXPECT_EQ(format_short_count(-1'234'567), "-1.2M");
  EXPECT_EQ(format_short_count(INFINITY), "inf");
}

}  // namespace
}  // namespace cachet::report
