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
  const auto recorded = nlohmann::json::parse(cachet::test::read_bytes(cachet::test::test_data() + "/statistics.json"));
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

TEST(Uncertainty, OfSharesHasTwoEndsIfTheyDifferByMoreThanATenthOfTheError) {
  EXPECT_EQ(text_of(1, 20, 20), " (95.2 % to 100.0 %)");
  EXPECT_EQ(text_of(0, 20, 20), " (0.0 % to 4.8 %)");
  EXPECT_EQ(text_of(0.5, 10, 10), " ± 15.8 %") << "half of Wilson's interval is 15.1 %";
  EXPECT_EQ(text_of(0.5, 4, 4), " (27.6 % to 72.4 %)") << "half of Wilson's interval is 22.4 %, the error 25.0 %";
  EXPECT_EQ(text_of(22.0 / 42, 42, 42), " ± 7.7 %");
  EXPECT_EQ(text_of(0.75, 50000, 50000), " ± 0.2 %");
  EXPECT_EQ(text_of(1, 20, 0), " ± 0.0 %") << "the number is not known, or the value is not a share";
  const auto x = [](double) { return std::string("x"); };
  EXPECT_EQ(uncertainty_text(1, std::nullopt, 1, x), "");
  EXPECT_EQ(uncertainty_text(NAN, 0.1, 20, x), " ± x");
  EXPECT_EQ(uncertainty_text(1, 0, 20, x, [](double) { return std::string("end"); }), " (end to end)");
  const auto digits = [](int count) { return [count](double value) { return format_number(value, count); }; };
  EXPECT_EQ(uncertainty_text(0.5, 0.25, 4, digits(2), digits(5)), " (0.27639 to 0.72361)");
  EXPECT_EQ(wilson_interval(1, 20).upper, 1);
  EXPECT_EQ(wilson_interval(0, 20).lower, 0);
}

MetricDescription accuracy() { return {.name = "top1", .title = "top-1", .form = ValueForm::percent, .share = true}; }

TEST(MeasuredText, AnErrorHasTwoDigitsAndTheValueItsDecimals) {
  EXPECT_EQ(measured_text(accuracy(), 0.8123, 0.0091, 1840), "81.23 ± 0.91 %");
  EXPECT_EQ(measured_text(accuracy(), 0.8123, 0.0341), "81.2 ± 3.4 %");
  EXPECT_EQ(measured_text(accuracy(), 0.8123, 0.141), "81 ± 14 %");
  EXPECT_EQ(measured_text(accuracy(), 0.81234, 0.00996), "81.2 ± 1.0 %") << "0.996 is written as 1.0";
  EXPECT_EQ(measured_text(accuracy(), 0.8123, std::nullopt), "81.2 %");
  EXPECT_EQ(measured_text(accuracy(), 0.8123, 0), "81.2 % ± 0.0 %");
  const MetricDescription points{"error", "error", ValueForm::fixed, Better::lower, false, "pixels"};
  EXPECT_EQ(measured_text(points, 27.3146, 0.1234), "27.31 ± 0.12 pixels");
  EXPECT_EQ(measured_text(points, 27.3146, std::nullopt), "27.315 pixels");
  EXPECT_EQ(measured_text(points, 12345.6, 123.4), "12346 ± 123 pixels");
  const MetricDescription plain{"x", "x"};
  EXPECT_EQ(measured_text(plain, 0.00012345, 0.0000123), "0.000123 ± 0.000012");
  EXPECT_EQ(measured_text(plain, NAN, 0.1), "nan");
  EXPECT_EQ(measured_value_text(accuracy(), 0.82041, 0.0091), "82.04 %");
  EXPECT_EQ(measured_value_text(accuracy(), 0.82041, std::nullopt), "82.0 %");
}

TEST(MeasuredText, AShareHasTwoEndsIfItsIntervalIsNotSymmetric) {
  EXPECT_EQ(measured_text(accuracy(), 1, 0, 33), "100.0 % (97.1 % to 100.0 %)");
  EXPECT_EQ(measured_text(accuracy(), 0, 0, 33), "0.0 % (0.0 % to 2.9 %)");
  EXPECT_EQ(measured_text(accuracy(), 0.9, 0.0375, 64), "90.0 % (85.6 % to 93.2 %)");
  EXPECT_EQ(measured_text(accuracy(), 0.75, 0.00194, 50000), "75.00 ± 0.19 %");
  EXPECT_EQ(measured_text(accuracy(), 1, 0, 0), "100.0 % ± 0.0 %") << "the number is not known";
}

}  // namespace
}  // namespace cachet::report
