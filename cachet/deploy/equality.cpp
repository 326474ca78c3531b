#include "cachet/deploy/equality.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/topk.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdio>

#include "cachet/ops/finite.h"

namespace cachet::deploy {

Equality equality_of(const at::Tensor& expected, const at::Tensor& actual, const Tolerance& tolerance) {
  TORCH_CHECK(expected.dim() == 2 && expected.sizes() == actual.sizes() && expected.numel() > 0,
              "deploy: scores must be (N, classes) of both models, got ", expected.sizes(), " and ", actual.sizes());
  const at::Tensor before = expected.detach().to(at::kCPU, at::kDouble),
                   now = actual.detach().to(at::kCPU, at::kDouble);
  ops::require_finite_scores(before);
  ops::require_finite_scores(now);
  Equality equality;
  equality.samples = before.size(0);
  const double largest = std::max(before.abs().max().item<double>(), 1e-30);
  equality.difference = (now - before).abs().max().item<double>() / largest;
  const at::Tensor changed = now.argmax(1).ne(before.argmax(1));
  equality.other = changed.sum().item<int64_t>();
  if (before.size(1) == 1) return equality;
  const at::Tensor best = std::get<0>(before.topk(2, 1));
  const at::Tensor clear = (best.select(1, 0) - best.select(1, 1)).gt(2 * tolerance.scores * largest);
  equality.clear = clear.sum().item<int64_t>();
  equality.clear_other = changed.bitwise_and(clear).sum().item<int64_t>();
  return equality;
}

std::string to_text(const Equality& equality) {
  char difference[32];
  std::snprintf(difference, sizeof difference, "%.2g", equality.difference);
  return "largest difference " + std::string(difference) + " of the largest score; the best class is the same for " +
         std::to_string(equality.samples - equality.other) + " of " + std::to_string(equality.samples) + " samples";
}

}  // namespace cachet::deploy
