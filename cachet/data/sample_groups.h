#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/data/random.h"

namespace cachet::data {

/// Groups of samples that must stay in one split: two samples that share a key (a sentence, the bytes of a picture),
/// and all samples linked through others (connected components). Every split of data uses these groups, so that no
/// sample is both trained on and evaluated.
class SampleGroups {
 public:
  /// Adds the next sample. Keys are compared byte by byte. The key of a text is split_key().
  void add(std::span<const std::string> keys);

  /// Returns the numbers of the samples of each group, ascending. Groups are in the order of their first samples.
  std::vector<std::vector<int64_t>> groups();

 private:
  int64_t root_of(int64_t sample);

  std::vector<int64_t> parents_;  // parent of each sample, up to the root of its group
  std::unordered_map<std::string, int64_t> first_with_;
};

/// Assigns groups to parts. In a random order, each group goes to the first part that has room for the whole group, or
/// to the rest if no part has room. `weights`: the size of each group; `room`: the capacity of each part. Returns the
/// part of each group, room.size() for the rest. A part stays below its capacity only if the remaining groups are too
/// large for it.
std::vector<size_t> dealt_groups(std::span<const int64_t> weights, std::vector<int64_t> room,
                                 const CounterRandom& random);

}  // namespace cachet::data
