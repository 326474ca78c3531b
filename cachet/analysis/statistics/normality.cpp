#include "cachet/analysis/statistics/normality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace cachet::analysis {
namespace {

constexpr double kRoundings = 16;  // of a statistic that is computed from the same values in every step

double epsilon_of(at::ScalarType type) {
  return type == at::kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

/// Whether values of this type differ by roundings alone. They would pass or fail by chance.
bool is_constant(std::span<const double> values, at::ScalarType type) {
  const auto [least, greatest] = std::ranges::minmax(values);
  return greatest - least <= kRoundings * epsilon_of(type) * std::max(std::abs(least), std::abs(greatest));
}

struct Moments {
  double second = 0, third = 0, fourth = 0;  // central
};

Moments central_moments(std::span<const double> values) {
  double mean = 0;
  for (const double value : values) mean += value;
  mean /= static_cast<double>(values.size());
  Moments moments;
  for (const double value : values) {
    const double d = value - mean, square = d * d;
    moments.second += square;
    moments.third += square * d;
    moments.fourth += square * square;
  }
  const auto n = static_cast<double>(values.size());
  return {moments.second / n, moments.third / n, moments.fourth / n};
}

// Skewness of n normal values, as a standard normal number (D'Agostino, Biometrika 57, 1970).
double skewness_score(double skewness, double n) {
  const double y = skewness * std::sqrt((n + 1) * (n + 3) / (6 * (n - 2)));
  const double beta = 3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
  const double w2 = std::sqrt(2 * (beta - 1)) - 1;
  const double delta = 1 / std::sqrt(0.5 * std::log(w2)), alpha = std::sqrt(2 / (w2 - 1));
  return delta * std::asinh(y / alpha);
}

// Kurtosis of n normal values, as a standard normal number (Anscombe and Glynn, Biometrika 70, 1983).
double kurtosis_score(double kurtosis, double n) {
  const double expected = 3 * (n - 1) / (n + 1);
  const double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
  const double x = (kurtosis - expected) / std::sqrt(variance);
  const double third =
      6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) * std::sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
  const double a = 6 + 8 / third * (2 / third + std::sqrt(1 + 4 / (third * third)));
  const double root = std::cbrt((1 - 2 / a) / (1 + x * std::sqrt(2 / (a - 4))));
  return (1 - 2 / (9 * a) - root) / std::sqrt(2 / (9 * a));
}

}  // namespace

NormalityTest dagostino_pearson(std::span<const double> values) {
  const auto count = static_cast<int64_t>(values.size());
  if (count < kMinForNormality)
    throw std::invalid_argument("normality: needs at least " + std::to_string(kMinForNormality) + " values, got " +
                                std::to_string(count));
  if (std::ranges::all_of(values, [&](double value) { return value == values.front(); })) return {};
  const Moments m = central_moments(values);
  const auto n = static_cast<double>(count);
  const double skewness = skewness_score(m.third / std::pow(m.second, 1.5), n),
               kurtosis = kurtosis_score(m.fourth / (m.second * m.second), n);
  const double k2 = skewness * skewness + kurtosis * kurtosis;
  return {true, k2, std::exp(-k2 / 2)};
}

int64_t NormalChannels::count() const {
  return std::ranges::count_if(tests, [](const NormalityTest& test) { return test.passes(); });
}

double NormalChannels::fraction() const { return static_cast<double>(count()) / static_cast<double>(tests.size()); }

NormalChannels normal_channels(const at::Tensor& statistics, int64_t last) {
  if (statistics.dim() != 2 || statistics.size(0) < last || statistics.size(1) < 1)
    throw std::invalid_argument("normality: statistics must be (steps, channels), with at least " +
                                std::to_string(last) + " steps");
  const at::Tensor columns =
      statistics.detach().narrow(0, statistics.size(0) - last, last).to(at::kCPU, at::kDouble).t().contiguous();
  NormalChannels channels;
  const double* values = columns.const_data_ptr<double>();
  for (int64_t channel = 0; channel < columns.size(0); ++channel) {
    const std::span<const double> own(values + channel * last, static_cast<size_t>(last));
    const NormalityTest test = dagostino_pearson(own);
    channels.tests.push_back(is_constant(own, statistics.scalar_type()) ? NormalityTest{} : test);
  }
  return channels;
}

}  // namespace cachet::analysis
