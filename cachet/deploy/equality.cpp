#include "cachet/deploy/equality.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/topk.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <cstdio>

#include "cachet/ops/support/finite.h"

namespace cachet::deploy {
namespace {

/// (N, classes) float64 of scores.
at::Tensor log_probabilities(const at::Tensor& scores) {
  const at::Tensor wide = scores.detach().to(at::kCPU, at::kDouble);
  ops::require_finite_scores(wide);
  return wide.log_softmax(1);
}

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

}  // namespace

Equality equality_of(const at::Tensor& expected, const at::Tensor& actual, const Tolerance& tolerance) {
  TORCH_CHECK(expected.dim() == 2 && expected.sizes() == actual.sizes() && expected.numel() > 0,
              "deploy: the scores of both models must have the same shape (N, classes), got ", expected.sizes(),
              " and ", actual.sizes());
  const at::Tensor before = log_probabilities(expected), now = log_probabilities(actual);
  Equality equality;
  equality.samples = before.size(0);
  const at::Tensor least = before.amax(1, /*keepdim=*/true) + std::log(kMinLikely);
  const at::Tensor differences = (at::maximum(now, least) - at::maximum(before, least)).abs().amax(1);
  equality.difference = differences.max().item<double>();
  equality.mean = differences.mean().item<double>();
  const at::Tensor changed = now.argmax(1).ne(before.argmax(1));
  equality.other = changed.sum().item<int64_t>();
  if (before.size(1) == 1) return equality;
  const at::Tensor best = std::get<0>(before.topk(2, 1));
  const at::Tensor clear = (best.select(1, 0) - best.select(1, 1)).gt(2 * tolerance.log_probability);
  equality.clear = clear.sum().item<int64_t>();
  equality.clear_other = changed.bitwise_and(clear).sum().item<int64_t>();
  return equality;
}

std::vector<std::string> Equality::broken_bounds(const Tolerance& tolerance, const DecisionWords& words) const {
  std::vector<std::string> broken;
  if (!(difference <= tolerance.log_probability))  // NaN is too far
    broken.push_back("a log-probability may differ by at most " + three_digits(tolerance.log_probability));
  const std::string decision = words.decision;
  if (clear_other > 0)
    broken.push_back(decision + " may not change if its log-probability leads by more than " +
                     three_digits(2 * tolerance.log_probability));
  if (other > 1 && changed() > tolerance.changed)
    broken.push_back(decision + " may change for at most " + three_digits(100 * tolerance.changed) + " % of the " +
                     words.many);
  return broken;
}

std::string to_text(const Equality& equality, const DecisionWords& words) {
  char difference[32];
  std::snprintf(difference, sizeof difference, "%.2g", equality.difference);
  return "largest difference of a log-probability " + std::string(difference) + "; " + words.decision +
         " is the same for " + std::to_string(equality.samples - equality.other) + " of " +
         std::to_string(equality.samples) + " " + words.many;
}

}  // namespace cachet::deploy
