#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cachet::data {

/// The part of a split that is used.
struct SubsetOptions {
  double fraction = 1;  // in (0, 1]; at least one sample stays
  int64_t limit = 0;    // largest number of samples; 0 = all
  uint64_t seed = 0;
};

/// Returns the ascending indices of the used samples of a split of `size` samples, or std::nullopt if all are used. The
/// samples begin a permutation for the seed and split, so a larger fraction contains a smaller fraction.
std::optional<std::vector<int64_t>> kept_samples(int64_t size, const SubsetOptions& options, uint64_t split);

}  // namespace cachet::data
