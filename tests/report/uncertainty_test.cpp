#include "cachet/report/uncertainty.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cachet/report/format.h"
#include "tests/support/bytes.h"
#include "tests/support/test_data.h"

namespace cachet::report {
namespace {

// As SciPy computes them: tools/make_statistics_fixtures.py.
TEST(Uncertainty, IntervalsOfSharesAreWilsons) {
  const auto recorded = nlohmann::json::parse(test::read_bytes(test::test_data() + "/statistics.json"));
  ASSERT_GE(recorded["shares"].size(), 20U);
  for (const auto& each : recorded["shares"]) {
    const ShareInterval interval = wilson_interval(each["share"], each["count"]);
    EXPECT_NEAR(interval.lower, each["lower"].get<double>(), 1e-12) << each;
    EXPECT_NEAR(interval.upper, each["upper"].get<double>(), 1e-12) << each;
  }
}

std::string text_of(double share, int64_t samples, int64_t known) {
  const double error = std::sqrt(share * (1 - share) / static_cast<double>(samples));
  return uncertainty_text(share, error, known, [](double value) { return format_percent(value); });
}

TEST(Uncertainty, OfSharesHasTwoEndsIfTheyDifferInTheDigits) {
  EXPECT_EQ(text_of(1, 20, 20), " (95.2 % to 100.0 %)");
  EXPECT_EQ(text_of(0, 20, 20), " (0.0 % to 4.8 %)");
  EXPECT_EQ(text_of(0.5, 10, 10), " (34.9 % to 65.1 %)");
  EXPECT_EQ(text_of(0.75, 50000, 50000), " ± 0.2 %");
  EXPECT_EQ(text_of(1, 20, 0), " ± 0.0 %") << "the number is not known, or the value is not a share";
  const auto x = [](double) { return std::string("x"); };
  EXPECT_EQ(uncertainty_text(1, std::nullopt, 1, x), "");
  EXPECT_EQ(uncertainty_text(NAN, 0.1, 20, x), " ± x");
  EXPECT_EQ(uncertainty_text(1, 0, 20, x, [](double) { return std::string("end"); }), " ± x") << "written alike";
  const auto digits = [](int count) { return [count](double value) { return format_number(value, count); }; };
  EXPECT_EQ(uncertainty_text(0.5, 0.158, 10, digits(2), digits(5)), " (0.34924 to 0.65076)");
  EXPECT_EQ(wilson_interval(1, 20).upper, 1);
  EXPECT_EQ(wilson_interval(0, 20).lower, 0);
}

}  // namespace
}  // namespace cachet::report
