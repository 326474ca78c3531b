#include "cachet/data/subset.h"

#include <algorithm>
#include <cmath>

#include "cachet/data/random.h"

namespace cachet::data {

std::optional<std::vector<int64_t>> kept_samples(int64_t size, const SubsetOptions& options, uint64_t split) {
  int64_t kept = std::max<int64_t>(1, std::llround(options.fraction * static_cast<double>(size)));
  if (options.limit > 0) kept = std::min(kept, options.limit);
  if (kept >= size) return std::nullopt;
  std::vector<int64_t> indices = permutation(size, {options.seed, RandomStream::subset, split, 0});
  indices.resize(static_cast<size_t>(kept));
  std::ranges::sort(indices);
  return indices;
}

}  // namespace cachet::data
