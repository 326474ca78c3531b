#include "cachet/ops/support/finite.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/stack.h>

#include <tuple>

namespace cachet::ops {
namespace {

void require_scores(bool finite) {
  if (!finite)
    throw NotFinite(
        "the model's scores are NaN or infinite: training has diverged, the weights are damaged, or the activations "
        "are too large for train.precision");
}

}  // namespace

bool all_finite(const at::Tensor& values) {
  if (values.numel() == 0) return true;
  const at::NoGradGuard no_grad;
  const auto [least, largest] = at::aminmax(values);  // both are NaN if one of the values is
  return at::stack({least, largest}).isfinite().all().item<bool>();
}

void require_finite_scores(const at::Tensor& scores) { require_scores(all_finite(scores)); }

void require_log_probabilities(const at::Tensor& scores) {
  const at::NoGradGuard no_grad;
  require_scores(scores.numel() == 0 || scores.amax(-1).isfinite().all().item<bool>());
}

}  // namespace cachet::ops
