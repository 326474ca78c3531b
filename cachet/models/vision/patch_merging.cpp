#include "cachet/models/vision/patch_merging.h"

namespace cachet::models {
namespace {

constexpr double kMergingNormEps = 1e-5;

// Above, below, then the same of the column to the right.
std::vector<int64_t> neighbours(const nn::Grid& grid) {
  std::vector<int64_t> sources;
  for (int64_t y = 0; y < grid.height; y += 2)
    for (int64_t x = 0; x < grid.width; x += 2)
      for (int64_t right = 0; right < 2; ++right)
        for (int64_t below = 0; below < 2; ++below) {
          const bool inside = y + below < grid.height && x + right < grid.width;
          sources.push_back(inside ? (y + below) * grid.width + x + right : -1);
        }
  return sources;
}

}  // namespace

PatchMerging::PatchMerging(int64_t dim, const nn::NormOptions& norm) : Cloneable("PatchMerging") {
  norm_ = register_module("norm", nn::make_norm(norm, 4 * dim, kMergingNormEps));
  reduction_ = register_module("reduction", std::make_shared<nn::Linear>(4 * dim, 2 * dim, /*with_bias=*/false));
}

GridTokens PatchMerging::forward(const GridTokens& x) {
  const at::Device device = x.tokens.device();
  const auto order =
      order_.get([&](const Order& kept) { return kept.grid == x.grid && kept.permutation.device() == device; },
                 [&] {
                   return Order{x.grid, nn::TokenPermutation(neighbours(x.grid), x.grid.tokens(), device)};
                 });
  const nn::Grid merged{(x.grid.height + 1) / 2, (x.grid.width + 1) / 2};
  const torch::Tensor patches =
      order->permutation.apply(x.tokens).view({x.tokens.size(0), merged.tokens(), 4 * x.tokens.size(2)});
  return {reduction_->forward(norm_->forward(patches)), merged};
}

std::vector<nn::NormFold> PatchMerging::norm_folds() {
  return {nn::fold_into_reader(*this, "norm", norm_,
                               [&](const nn::Affine& before) { reduction_->fold_affine_before(before); })};
}

}  // namespace cachet::models
