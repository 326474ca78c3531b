#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/metrics/dense_ids.h"

namespace cachet::metrics {

/// Counts the n-grams of a sequence that also occur in reference sequences, for n = 1 … orders. The key of an n-gram
/// has two parts, its last unit and a number for its first n − 1 units, so that counting compares numbers instead of
/// texts. Different n-grams have different keys.
class NgramMatches {
 public:
  explicit NgramMatches(size_t orders) : ids_(orders), most_(orders), now_(orders) {}

  size_t orders() const { return ids_.size(); }
  void clear();
  /// Adds a reference. The limit of an n-gram is the largest count of this n-gram in any reference.
  void add_reference(std::span<const uint32_t> units);
  /// Returns how many n-grams of a sequence also occur in the references. Element n − 1 of the result is the count for
  /// n-grams of length n. An n-gram that occurs more often than its limit is counted only up to the limit.
  std::vector<int64_t> matches(std::span<const uint32_t> units);

  /// Returns the number of n-grams in a sequence of `units` units.
  static int64_t count(size_t units, size_t n) { return units < n ? 0 : static_cast<int64_t>(units - n + 1); }

 private:
  std::vector<DenseIds<uint64_t>> ids_;      // numbers of n-grams, by order
  std::vector<std::vector<uint32_t>> most_;  // largest count in a reference, by order and number
  std::vector<std::vector<uint32_t>> now_;   // count in the current sequence, by order and number
  std::vector<uint32_t> prefixes_;           // number of the n-gram that begins at each position
};

}  // namespace cachet::metrics
