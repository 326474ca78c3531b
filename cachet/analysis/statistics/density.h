#pragma once

#include <span>
#include <vector>

namespace cachet::analysis {

/// Returns the density of a distribution at `points`, estimated from `values` by a sum of Gaussian kernels (KDE). The
/// width of the kernels is Scott's, n^(−1/5) times the standard deviation (with the divisor n − 1), but at least
/// `least_width`, so that equal values have a density. Throws std::invalid_argument if there are no values, or if
/// `least_width` is not above 0.
std::vector<double> kernel_density(std::span<const double> values, std::span<const double> points, double least_width);

}  // namespace cachet::analysis
