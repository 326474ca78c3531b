#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cachet/deploy/trace.h"

namespace cachet::deploy {

/// With which sizes a model is traced, so that the numbers of its graph show how they depend on each: all at their
/// least, each one alone at more, and at last all at other sizes, which the forms found must predict.
class SizeSamples {
 public:
  explicit SizeSamples(const std::vector<FreeSize>& sizes);

  const std::vector<std::vector<int64_t>>& all() const { return samples_; }
  size_t sizes() const { return samples_.front().size(); }
  /// Which sizes sample `index` has otherwise than the first: "batch", or "batch or length" of the last.
  std::string words_for(size_t index, const std::vector<FreeSize>& sizes) const;

 private:
  std::vector<std::vector<int64_t>> samples_;
};

/// A whole number as a product: factor · Π (slope · size + offset).
struct SizeForm {
  struct Term {
    size_t size = 0;  // which of the free sizes
    int64_t slope = 1, offset = 0;
  };
  int64_t factor = 1;
  std::vector<Term> terms;

  bool constant() const { return terms.empty(); }
  int64_t at(const std::vector<int64_t>& sizes) const;

  /// The form that gives these values, one a sample; nothing where there is none.
  static std::optional<SizeForm> of(const std::vector<int64_t>& values, const SizeSamples& samples);
};

}  // namespace cachet::deploy
