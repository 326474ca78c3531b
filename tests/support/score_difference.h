#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>

#include "cachet/ops/support/finite.h"

namespace cachet::test {

/// How two models' scores of the same samples differ, whatever they are scores of.
struct ScoreDifference {
  int64_t samples = 0;
  double largest = 0;       // as a fraction of the largest score of the first model
  int64_t clear_other = 0;  // samples whose best score leads by more than twice the tolerance, and is another one now
  int64_t other = 0;        // of all samples

  bool holds(double tolerance) const { return largest <= tolerance && clear_other == 0; }
};

/// expected, actual (N, scores).
inline ScoreDifference score_difference(const at::Tensor& expected, const at::Tensor& actual, double tolerance) {
  TORCH_CHECK(expected.dim() == 2 && expected.sizes() == actual.sizes(), "scores differ in shape: ", expected.sizes(),
              " and ", actual.sizes());
  const at::Tensor before = expected.detach().to(at::kDouble), now = actual.detach().to(at::kDouble);
  ops::require_finite_scores(before);
  ops::require_finite_scores(now);
  ScoreDifference found;
  found.samples = before.size(0);
  const double largest = std::max(before.abs().max().item<double>(), 1e-30);
  found.largest = (now - before).abs().max().item<double>() / largest;
  const at::Tensor changed = now.argmax(1).ne(before.argmax(1));
  found.other = changed.sum().item<int64_t>();
  if (before.size(1) == 1) return found;
  const at::Tensor best = std::get<0>(before.topk(2, 1));
  const at::Tensor clear = (best.select(1, 0) - best.select(1, 1)).gt(2 * tolerance * largest);
  found.clear_other = changed.bitwise_and(clear).sum().item<int64_t>();
  return found;
}

}  // namespace cachet::test
