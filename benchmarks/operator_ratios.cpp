#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "benchmarks/pairs.h"
#include "cachet/ops/fused.h"
#include "cachet/ops/unified_norm.h"

namespace cachet::benchmarks {
namespace {

// One training step of a norm: forward, and backward to input, weight and bias.
template <class Forward>
std::function<void()> training_step(const at::Tensor& x, const at::Tensor& dy, const at::Tensor& w, const at::Tensor& b,
                                    const Forward& forward) {
  return [=] {
    const at::Tensor y = forward(x, w, b);
    torch::autograd::grad({y}, {x, w, b}, {dy});
  };
}

Pair unified_norm_step(at::ScalarType dtype) {
  const at::Tensor x = at::randn({32, 197, 384}).to(dtype).requires_grad_(), dy = at::randn({32, 197, 384}).to(dtype);
  const at::Tensor w = at::ones({384}).requires_grad_(), b = at::zeros({384}).requires_grad_();
  ops::UnifiedNormSettings settings;
  settings.warmup = 0;
  const auto state = ops::initial_unified_norm_state(384, settings);
  const at::Tensor wt = w.detach().to(dtype).requires_grad_(), bt = b.detach().to(dtype).requires_grad_();
  return {"unified_norm / at::layer_norm, training step, 32 x 197 x 384",
          training_step(x, dy, w, b,
                        [=](const at::Tensor& in, const at::Tensor& weight, const at::Tensor& bias) {
                          return ops::unified_norm(in, weight, bias, {}, state, settings).output;
                        }),
          training_step(x, dy, wt, bt, [](const at::Tensor& in, const at::Tensor& weight, const at::Tensor& bias) {
            return at::layer_norm(in, {384}, weight, bias);
          })};
}

}  // namespace
}  // namespace cachet::benchmarks

int main() {
  using namespace cachet::benchmarks;
  at::set_num_threads(2);
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const auto m = measure(unified_norm_step(dtype));
    std::cout << m.a.median << ' ' << m.b.median << ' ' << m.ratio.median << '\n';
  }
}
