#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cachet::metrics {

/// A part of an evaluation whose loss is nearly independent of the losses of other parts: a sample, or a block of text.
/// The loss of an evaluation is the sum of `loss` over all parts, divided by the sum of `weight`.
struct PartLoss {
  double loss = 0;
  double weight = 1;  // the number of tokens, or 1 for a classified sample
};

/// Returns the standard error of `mean`, which is the loss of an evaluation that consists of `parts`. If the evaluation
/// has fewer than two parts, returns std::nullopt.
///
/// The loss is a ratio of sums over B parts, L = ΣS / Σn, where S is the loss of a part and n its weight. The standard
/// error of the ratio is √(B / (B − 1) · Σ(S − L·n)²) / Σn (Cochran, Sampling Techniques, 1977, §6.3). If all weights n
/// are equal, the result is the usual standard error of a mean.
std::optional<double> loss_error(std::span<const PartLoss> parts, double mean);

/// Number of consecutive tokens of a batch row in a block. The standard error of a language model's loss is computed
/// over blocks, which are nearly independent, because the losses of adjacent tokens are correlated.
inline constexpr int64_t kBlockTokens = 512;

/// Divides batch rows of text into blocks. A block has consecutive segments of one batch row, as many as it needs for
/// at least kBlockTokens tokens. The last block of a batch row may be smaller.
class TextBlocks {
 public:
  /// Adds a segment: for each batch row, the sum of its losses and the number of its tokens. Segments must be added in
  /// the order of the text.
  void add(std::span<const double> losses, std::span<const int64_t> tokens);
  /// Returns the losses of all blocks that have tokens.
  std::vector<PartLoss> parts() const;

 private:
  std::vector<PartLoss> full_, open_;  // open_: the unfinished block of each batch row
};

}  // namespace cachet::metrics
