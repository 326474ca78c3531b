#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cachet/metrics/dense_ids.h"

namespace cachet::metrics {

/// Counts which n-grams of a sequence stand in other ones, for n = 1 … orders. An n-gram is numbered by its first n − 1
/// units' number and its last unit, so that counting compares numbers and never texts, and no two n-grams are taken for
/// one another.
class NgramMatches {
 public:
  explicit NgramMatches(size_t orders) : ids_(orders), most_(orders), now_(orders) {}

  size_t orders() const { return ids_.size(); }
  void clear();
  /// An n-gram counts as often as in the reference that has it most often.
  void add_reference(std::span<const uint32_t> units);
  /// How many n-grams of the sequence, each at most as often as it counts, stand in the references: element n − 1.
  std::vector<int64_t> matches(std::span<const uint32_t> units);

  /// How many n-grams a sequence has.
  static int64_t count(size_t units, size_t n) { return units < n ? 0 : static_cast<int64_t>(units - n + 1); }

 private:
  std::vector<DenseIds<uint64_t>> ids_;      // by order
  std::vector<std::vector<uint32_t>> most_;  // of the references, by order and number
  std::vector<std::vector<uint32_t>> now_;   // of the sequence that is counted
  std::vector<uint32_t> prefixes_;           // the number of the n-gram that begins at each position
};

}  // namespace cachet::metrics
