#include "cachet/report/text/fitted_line.h"

#include <gtest/gtest.h>

#include "cachet/report/text/display_width.h"

namespace cachet::report {
namespace {

std::vector<LineField> fields() {
  return {{"epoch 3/20", 6},
          {"loss 0.95", 2},
          {"train 78.9 %", 3},
          {"validation 81.23 ± 0.91 %", 7, /*behind=*/true},
          {"(best 82.04 % in epoch 2)", 5, /*behind=*/true, /*joined=*/true},
          {"2.8k images/s", 0, /*behind=*/true},
          {"1m34s left", 1, /*behind=*/true}};
}

TEST(FittedLine, HasAllFieldsIfThereIsRoom) {
  const std::string whole =
      "epoch 3/20  loss 0.95  train 78.9 %  |  validation 81.23 ± 0.91 % (best 82.04 % in epoch 2)  2.8k images/s  "
      "1m34s left";
  EXPECT_EQ(fitted_line(fields()), whole);
  EXPECT_EQ(fitted_line(fields(), display_width(whole)), whole);
  EXPECT_EQ(fitted_line({}, 10), "");
}

TEST(FittedLine, DropsTheLeastImportantFieldsFirst) {
  EXPECT_EQ(fitted_line(fields(), 80),
            "epoch 3/20  train 78.9 %  |  validation 81.23 ± 0.91 % (best 82.04 % in epoch 2)");
  EXPECT_EQ(fitted_line(fields(), 79), "epoch 3/20  |  validation 81.23 ± 0.91 % (best 82.04 % in epoch 2)");
  EXPECT_EQ(fitted_line(fields(), 60), "epoch 3/20  |  validation 81.23 ± 0.91 %");
  EXPECT_EQ(fitted_line(fields(), 30), "validation 81.23 ± 0.91 %");
  for (int columns = 25; columns < 150; ++columns)
    EXPECT_LE(display_width(fitted_line(fields(), columns)), columns) << columns;
}

TEST(FittedLine, KeepsTheMetricOnTheNarrowestTerminal) {
  EXPECT_EQ(fitted_line(fields(), 5), "validation 81.23 ± 0.91 %");
}

TEST(FittedLine, ABarStandsBetweenTwoHalvesOnly) {
  EXPECT_EQ(fitted_line({{"a", 1}, {"b", 2}}), "a  b");
  EXPECT_EQ(fitted_line({{"a", 1, true}, {"b", 2, true}}), "a  b");
}

}  // namespace
}  // namespace cachet::report
