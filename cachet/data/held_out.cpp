#include "cachet/data/held_out.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "cachet/data/data_digest.h"
#include "cachet/data/random.h"

namespace cachet::data {

HeldOut hold_out(std::span<const int64_t> strata, double fraction, uint64_t seed) {
  const auto size = static_cast<int64_t>(strata.size());
  if (size < 2)
    throw std::invalid_argument(
        "data.validation_fraction needs at least two training samples, but the number of samples is " +
        std::to_string(size));
  std::map<int64_t, std::vector<int64_t>> members;
  for (int64_t i = 0; i < size; ++i) members[strata[static_cast<size_t>(i)]].push_back(i);
  if (std::ranges::none_of(members, [](const auto& stratum) { return stratum.second.size() > 1; })) {
    members.clear();
    for (int64_t i = 0; i < size; ++i) members[0].push_back(i);
  }
  std::vector<bool> validates(strata.size());
  for (const auto& [stratum, samples] : members) {
    const auto count = static_cast<int64_t>(samples.size());
    if (count < 2) continue;
    const int64_t drawn = std::clamp<int64_t>(std::llround(fraction * static_cast<double>(count)), 1, count - 1);
    const std::vector<int64_t> order =
        permutation(count, {seed, RandomStream::held_out, static_cast<uint64_t>(stratum + 1), 0});
    for (int64_t i = 0; i < drawn; ++i)
      validates[static_cast<size_t>(samples[static_cast<size_t>(order[static_cast<size_t>(i)])])] = true;
  }
  HeldOut parts;
  for (int64_t i = 0; i < size; ++i)
    (validates[static_cast<size_t>(i)] ? parts.validation : parts.training).push_back(i);
  return parts;
}

std::string digest_of_indices(std::span<const int64_t> indices) {
  std::string text;
  for (const int64_t index : indices) text += std::to_string(index) + "\n";
  return digest_of(text);
}

}  // namespace cachet::data
