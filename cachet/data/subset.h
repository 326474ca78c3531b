#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cachet::data {

/// The options that select the samples of a split to use.
struct SubsetOptions {
  double fraction = 1;  // in (0, 1]; at least one sample stays
  int64_t limit = 0;    // largest number of samples; 0 = all
  uint64_t seed = 0;
};

/// Returns the ascending indices of the used samples of a split of `size` samples, or std::nullopt if all are used. The
/// used samples are the first samples of a permutation that depends on the seed and the split. Therefore, a larger
/// fraction also selects all samples of every smaller fraction.
std::optional<std::vector<int64_t>> kept_samples(int64_t size, const SubsetOptions& options, uint64_t split);

}  // namespace cachet::data
