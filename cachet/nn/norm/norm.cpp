#include "cachet/nn/norm/norm.h"

#include <algorithm>
#include <stdexcept>

#include "cachet/config/fraction.h"
#include "cachet/nn/norm/no_norm.h"

namespace cachet::nn {

SplitNorm Norm::split() const {
  const auto affine = inference_affine();
  TORCH_CHECK(affine, name(), ": cannot be split into a norm and its weights, because the class does not define this");
  return {std::make_shared<NoNorm>(affine->scale.numel()), *affine};
}

void Norm::check_channels(const char* name, const torch::Tensor& x, int64_t channels) {
  TORCH_CHECK(x.dim() >= 1 && x.size(-1) == channels, name, ": takes (..., ", channels, "), got ", x.sizes());
}

void Norm::check_warmup(double percent) {
  if (percent > 0)
    throw std::logic_error("norm.warmup is " + config::percent_text(percent) +
                           " of the updates of a run, but no run has begun; call settle_warmup() with the number of "
                           "updates, or set the warm-up as a count");
}

std::optional<int64_t> settle_warmups(torch::nn::Module& model, int64_t updates) {
  std::optional<int64_t> largest;
  const auto settle = [&](torch::nn::Module& module) {
    if (auto* norm = dynamic_cast<Norm*>(&module))
      if (const auto count = norm->settle_warmup(updates)) largest = std::max(largest.value_or(0), *count);
  };
  settle(model);
  for (const auto& module : model.modules(/*include_self=*/false)) settle(*module);
  return largest;
}

}  // namespace cachet::nn
