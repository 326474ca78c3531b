#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cachet/data/random.h"

namespace cachet::data {

/// Which samples must stay in one split: two that share a key (a sentence, the bytes of a picture), and all that are
/// linked by others (the connected components). Whatever splits data uses these groups, so that nothing is both
/// trained on and evaluated.
class SampleGroups {
 public:
  /// Adds the next sample. Keys are compared byte by byte; a text's is split_key().
  void add(std::span<const std::string> keys);

  /// The numbers of the samples of each group, ascending; groups in the order of their first samples.
  std::vector<std::vector<int64_t>> groups();

 private:
  int64_t root_of(int64_t sample);

  std::vector<int64_t> parents_;  // of samples, up to the root of each group
  std::unordered_map<std::string, int64_t> first_with_;
};

/// Deals out groups to parts. In a drawn order each group goes to the first part that has room for all of it, and to
/// the rest if none has. `weights`: how much each group counts; `room`: how much each part takes. Returns the part of
/// each group, room.size() for the rest. A part stays below its room only if the groups that are left are too large for
/// it.
std::vector<size_t> dealt_groups(std::span<const int64_t> weights, std::vector<int64_t> room,
                                 const CounterRandom& random);

}  // namespace cachet::data
