#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/deploy/trace.h"

namespace cachet::deploy {

/// Sizes for tracing a model, to find how the numbers of its graph depend on each size. In the first sample, all sizes
/// have their smallest values. In each of the following samples, one of the sizes is larger than in the first sample.
/// In the last sample, all sizes have new values, which check the SizeForms computed from the earlier samples.
class SizeSamples {
 public:
  explicit SizeSamples(const std::vector<FreeSize>& sizes);

  const std::vector<std::vector<int64_t>>& all() const { return samples_; }
  size_t sizes() const { return samples_.front().size(); }
  /// Returns the names of the sizes that differ between sample `index` and the first sample: "batch or length".
  std::string words_for(size_t index, const std::vector<FreeSize>& sizes) const;

 private:
  std::vector<std::vector<int64_t>> samples_;
};

/// An integer as a function of the free sizes: the product factor · Π (slope · size + offset).
struct SizeForm {
  struct Term {
    size_t size = 0;  // index of the free size
    int64_t slope = 1, offset = 0;
  };
  int64_t factor = 1;
  std::vector<Term> terms;

  bool constant() const { return terms.empty(); }
  int64_t at(const std::vector<int64_t>& sizes) const;

  /// Returns the SizeForm whose results for the sizes in `samples` are `values` (one integer for each sample), or
  /// std::nullopt if there is none.
  static std::optional<SizeForm> of(const std::vector<int64_t>& values, const SizeSamples& samples);
};

}  // namespace cachet::deploy
