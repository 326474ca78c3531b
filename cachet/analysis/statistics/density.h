#pragma once

#include <span>
#include <vector>

namespace cachet::analysis {

/// The density of a distribution, estimated from `values` by a sum of Gaussian kernels (KDE), at `points`. The width of
/// the kernels is Scott's, n^(−1/5) times the standard deviation (of n − 1), but at least `least_width`: values that
/// are equal have a density, too. Throws std::invalid_argument for no values, or if `least_width` is not above 0.
std::vector<double> kernel_density(std::span<const double> values, std::span<const double> points, double least_width);

}  // namespace cachet::analysis
