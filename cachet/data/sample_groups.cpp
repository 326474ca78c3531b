#include "cachet/data/sample_groups.h"

#include <algorithm>
#include <utility>

namespace cachet::data {

void SampleGroups::add(std::span<const std::string> keys) {
  const auto sample = static_cast<int64_t>(parents_.size());
  parents_.push_back(sample);
  for (const std::string& key : keys) {
    const auto [place, is_new] = first_with_.emplace(key, sample);
    if (is_new) continue;
    // The smaller number becomes the root, so that a group is known by its first sample.
    const int64_t one = root_of(place->second), other = root_of(sample);
    parents_[static_cast<size_t>(std::max(one, other))] = std::min(one, other);
  }
}

int64_t SampleGroups::root_of(int64_t sample) {
  int64_t root = sample;
  while (parents_[static_cast<size_t>(root)] != root) root = parents_[static_cast<size_t>(root)];
  while (sample != root) sample = std::exchange(parents_[static_cast<size_t>(sample)], root);
  return root;
}

std::vector<std::vector<int64_t>> SampleGroups::groups() {
  std::vector<std::vector<int64_t>> groups;
  std::vector<size_t> place_of_root(parents_.size());
  for (size_t sample = 0; sample < parents_.size(); ++sample) {
    const auto root = static_cast<size_t>(root_of(static_cast<int64_t>(sample)));
    if (root == sample) {
      place_of_root[root] = groups.size();
      groups.emplace_back();
    }
    groups[place_of_root[root]].push_back(static_cast<int64_t>(sample));
  }
  return groups;
}

std::vector<size_t> dealt_groups(std::span<const int64_t> weights, std::vector<int64_t> room,
                                 const CounterRandom& random) {
  std::vector<size_t> parts(weights.size(), room.size());
  for (const int64_t group : permutation(static_cast<int64_t>(weights.size()), random)) {
    const int64_t weight = weights[static_cast<size_t>(group)];
    const auto part = std::ranges::find_if(room, [&](int64_t left) { return left >= weight; });
    if (part == room.end()) continue;
    *part -= weight;
    parts[static_cast<size_t>(group)] = static_cast<size_t>(part - room.begin());
  }
  return parts;
}

}  // namespace cachet::data
