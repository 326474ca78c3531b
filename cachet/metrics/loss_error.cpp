#include "cachet/metrics/loss_error.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace cachet::metrics {

std::optional<double> loss_error(std::span<const PartLoss> parts, double mean) {
  if (parts.size() < 2) return std::nullopt;
  double squares = 0, weight = 0;
  for (const PartLoss& part : parts) {
    const double beyond = part.loss - mean * part.weight;
    squares += beyond * beyond;
    weight += part.weight;
  }
  const auto count = static_cast<double>(parts.size());
  return std::sqrt(squares * count / (count - 1)) / weight;
}

void TextBlocks::add(std::span<const double> losses, std::span<const int64_t> tokens) {
  open_.resize(std::max(open_.size(), losses.size()), PartLoss{0, 0});
  for (size_t row = 0; row < losses.size(); ++row) {
    PartLoss& block = open_[row];
    block.loss += losses[row];
    block.weight += static_cast<double>(tokens[row]);
    if (block.weight < kBlockTokens) continue;
    full_.push_back(block);
    block = {0, 0};
  }
}

std::vector<PartLoss> TextBlocks::parts() const {
  std::vector<PartLoss> parts = full_;
  std::ranges::copy_if(open_, std::back_inserter(parts), [](const PartLoss& block) { return block.weight > 0; });
  return parts;
}

}  // namespace cachet::metrics
