#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/data/random.h"

namespace cachet::data {

/// Finds groups of samples that must stay in one split. Samples with a common key (a sentence, or the bytes of a
/// picture) belong to one group, also if they are linked through other samples (connected components). All functions
/// that split data use SampleGroups, so that no sample is used both for training and for evaluation.
class SampleGroups {
 public:
  /// Adds the next sample. Keys are compared byte by byte. The key of a text is the normalized text, split_key().
  void add(std::span<const std::string> keys);

  /// Returns, for each group, the ascending indices of its samples. Groups are in the order of their first samples.
  std::vector<std::vector<int64_t>> groups();

 private:
  int64_t root_of(int64_t sample);

  std::vector<int64_t> parents_;  // parent of each sample, up to the root of its group
  std::unordered_map<std::string, int64_t> first_with_;
};

/// Assigns groups to parts. The groups are visited in a random order. Each group goes to the first part with room for
/// the whole group; if no part has room, the group is left over. weights[i] is the size of group i, and room[j] is the
/// capacity of part j. Returns the index of the part for each group, or room.size() for a group that is left over. Each
/// group that is left over is larger than the final free room of any part.
std::vector<size_t> dealt_groups(std::span<const int64_t> weights, std::vector<int64_t> room,
                                 const CounterRandom& random);

}  // namespace cachet::data
