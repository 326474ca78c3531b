#include "cachet/analysis/statistics/density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace cachet::analysis {
namespace {

TEST(KernelDensity, IsTheSumOfItsKernels) {
  // Two values: the standard deviation is √2/2·1, the width that times 2^(−1/5), as scipy.stats.gaussian_kde has it.
  const std::vector<double> values{0, 1}, points{0, 0.5};
  const double width = std::sqrt(0.5) * std::pow(2, -0.2);
  const auto kernel = [&](double away) {
    return std::exp(-0.5 * away * away / (width * width)) / (width * std::sqrt(2 * std::numbers::pi));
  };
  const std::vector<double> density = kernel_density(values, points, 0.01);
  EXPECT_NEAR(density[0], (kernel(0) + kernel(1)) / 2, 1e-12);
  EXPECT_NEAR(density[1], kernel(0.5), 1e-12);
}

TEST(KernelDensity, IntegratesToOne) {
  std::vector<double> points;
  for (int i = 0; i <= 4000; ++i) points.push_back(-2 + i * 1e-3);
  for (const std::vector<double>& values : {std::vector<double>{0.1, 0.4, 0.4, 0.9}, {0.3}, {0.5, 0.5, 0.5}}) {
    const std::vector<double> density = kernel_density(values, points, 0.02);
    EXPECT_NEAR(std::accumulate(density.begin(), density.end(), 0.0) * 1e-3, 1, 1e-3);
  }
}

TEST(KernelDensity, RefusesWhatHasNone) {
  const std::vector<double> points{0};
  EXPECT_THROW(kernel_density({}, points, 0.1), std::invalid_argument);
  EXPECT_THROW(kernel_density(points, points, 0), std::invalid_argument);
}

}  // namespace
}  // namespace cachet::analysis
