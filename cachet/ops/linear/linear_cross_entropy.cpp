#include "cachet/ops/linear/linear_cross_entropy.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "cachet/kernels/cross_entropy_rows.h"
#include "cachet/ops/linear/product.h"
#include "cachet/ops/support/device_check.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/support/optional_tensor.h"
#include "cachet/ops/support/registration.h"
#include "cachet/ops/support/shapes.h"
#include "cachet/ops/support/wants_gradient.h"

namespace cachet::ops {
namespace {

using at::Tensor;

// The two entropies, and p − q (N, V), which the backward pass reads; the latter empty where nobody asked for it.
using CrossEntropyForward = std::tuple<Tensor, Tensor, Tensor>;

at::ScalarType entropy_dtype(const Tensor& x) { return c10::promoteTypes(x.scalar_type(), at::kFloat); }

// The probability that a smoothed target gives to each other class.
double share_of_others(double smoothing, const c10::SymInt& classes) {
  return smoothing == 0 ? 0.0 : smoothing / static_cast<double>(classes.guard_int(__FILE__, __LINE__) - 1);
}

void check_cross_entropy(const Tensor& x, const Tensor& weight, const OptionalTensor& bias, const Tensor& target,
                         double smoothing) {
  constexpr const char* op = "linear_cross_entropy";
  TORCH_CHECK(x.dim() == 2 && x.is_floating_point(), op, ": x must be floating (N, D), got ", x.scalar_type(), " ",
              x.sym_sizes());
  check_same_device(op, x, {{"weight", weight}, {"bias", bias}, {"target", target}});
  TORCH_CHECK(weight.dim() == 2 && same_size(weight.sym_size(1), x.sym_size(1)) && at_least(weight.sym_size(0), 1), op,
              ": weight must be (V, D) with D = ", x.sym_size(1), " and at least one class, got ", weight.sym_sizes());
  TORCH_CHECK(weight.scalar_type() == x.scalar_type(), op, ": x is ", x.scalar_type(), ", weight ",
              weight.scalar_type());
  if (bias) check_vector(op, *bias, "V", weight.sym_size(0), "bias");
  check_shape(op, "target", target, {x.sym_size(0)}, x, at::kLong);
  TORCH_CHECK(smoothing >= 0 && smoothing < 1, op, ": label_smoothing must be in [0, 1), got ", smoothing);
  TORCH_CHECK(smoothing == 0 || at_least(weight.sym_size(0), 2), op,
              ": label_smoothing needs at least two classes, but there is only one class");
}

// In the fused form; in the unfused form ATen refuses a wrong one.
void check_targets(const Tensor& target, int64_t classes) {
  const auto* first = data<int64_t>(target);
  const auto* wrong = std::find_if(first, first + target.numel(), [&](int64_t id) { return id < -1 || id >= classes; });
  TORCH_CHECK(wrong == first + target.numel(), "linear_cross_entropy: target ", wrong - first,
              " must be a class from 0 to ", classes - 1, ", or -1 for no class, got ", *wrong);
}

// p − q from log p (N, V); 0 in rows that are given no class.
Tensor residual_of(const Tensor& logs, const Tensor& classes, const Tensor& given, double smoothing, double other) {
  const Tensor at_target = classes.unsqueeze(-1);
  const Tensor wanted = at::full_symint(at_target.sym_sizes(), 1 - smoothing - other, logs.options());
  const Tensor residual = (logs.exp() - other).scatter_add(-1, at_target, -wanted);
  return residual.masked_fill(given.logical_not().unsqueeze(-1), 0);
}

CrossEntropyForward linear_cross_entropy_composite(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                                   const Tensor& target, double smoothing, bool keep_residual) {
  check_cross_entropy(x, weight, bias, target, smoothing);
  const auto dtype = entropy_dtype(x);
  Tensor scores = at::linear(x, weight).to(dtype);
  if (bias) scores = scores + bias->to(dtype);
  const Tensor logs = scores.log_softmax(-1), given = target.ne(-1), classes = target.masked_fill(target.eq(-1), 0);
  const Tensor likelihood = -logs.gather(-1, classes.unsqueeze(-1)).squeeze(-1);
  const double other = share_of_others(smoothing, weight.sym_size(0));
  const Tensor loss = smoothing == 0 ? likelihood : (1 - smoothing - other) * likelihood - other * logs.sum(-1);
  const Tensor zero = at::zeros({}, loss.options());
  return {at::where(given, loss, zero), at::where(given, likelihood, zero).detach(),
          keep_residual ? residual_of(logs.detach(), classes, given, smoothing, other).to(x.scalar_type())
                        : at::empty({0}, x.options())};
}

// --- CPU -------------------------------------------------------------------------------------------------------------

// Rows whose scores are made at a time where they are not stored: about 32 MiB.
int64_t rows_at_a_time(int64_t rows, int64_t classes) {
  constexpr int64_t kNumbers = 8 << 20;
  return std::clamp<int64_t>(kNumbers / classes, 1, std::max<int64_t>(rows, 1));
}

CrossEntropyForward linear_cross_entropy_cpu(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                             const Tensor& target, double smoothing, bool keep_residual) {
  if (fused_on(x) != FusedOn::cpu)
    return linear_cross_entropy_composite(x, weight, bias, target, smoothing, keep_residual);
  check_cross_entropy(x, weight, bias, target, smoothing);
  const Tensor ids = target.contiguous();
  const int64_t count = x.size(0), classes = weight.size(0);
  check_targets(ids, classes);
  const Tensor shift = float_vector(bias);
  const Tensor loss = at::empty({count}, x.options().dtype(at::kFloat)), likelihood = at::empty_like(loss);
  Tensor residual = at::empty({0}, x.options());
  const int64_t rows = keep_residual ? std::max<int64_t>(count, 1) : rows_at_a_time(count, classes);
  for (int64_t first = 0; first < count; first += rows) {
    const int64_t size = std::min(rows, count - first);
    const Tensor scores = linear_no_grad(x.narrow(0, first, size), weight).contiguous();
    for_type_of(x, [&]<class T>(T*) {
      parallel(size, classes, [&](int64_t from, int64_t to) {
        std::vector<float> scratch(static_cast<size_t>(classes));
        T* own = mutable_data<T>(scores) + from * classes;
        const kernels::CrossEntropyTargets targets{data<int64_t>(ids) + first + from, static_cast<float>(smoothing),
                                                   static_cast<float>(share_of_others(smoothing, classes))};
        kernels::cross_entropy_rows(own, data_or_null<float>(shift), targets, mutable_data<float>(loss) + first + from,
                                    mutable_data<float>(likelihood) + first + from,
                                    keep_residual ? own : static_cast<T*>(nullptr), scratch.data(),
                                    {to - from, classes});
      });
    });
    if (keep_residual) residual = scores;
  }
  if (keep_residual && count == 0) residual = at::empty({0, classes}, x.options());
  return {loss, likelihood, residual};
}

void check_cross_entropy_gradient(const Tensor& grad, const Tensor& x, const Tensor& weight, const Tensor& residual) {
  constexpr const char* op = "linear_cross_entropy_backward";
  TORCH_CHECK(x.dim() == 2 && weight.dim() == 2 && same_size(x.sym_size(1), weight.sym_size(1)) &&
                  x.scalar_type() == weight.scalar_type(),
              op, ": x must be (N, D), and weight must be (V, D) with the dtype of x, got ", x.scalar_type(), " ",
              x.sym_sizes(), " and ", weight.scalar_type(), " ", weight.sym_sizes());
  check_shape(op, "residual", residual, {x.sym_size(0), weight.sym_size(0)}, x);
  check_shape(op, "grad", grad, {x.sym_size(0)}, x, entropy_dtype(x));
}

// Gradients of x, weight and bias (float32) from that of the loss, g: diag(g)·R·W, Rᵀ·diag(g)·x and Rᵀ·g. The rows of
// the narrow operand are scaled, not those of R.
std::tuple<Tensor, Tensor, Tensor> linear_cross_entropy_backward_cpu(const Tensor& grad, const Tensor& x,
                                                                     const Tensor& weight, const Tensor& residual) {
  check_fused_on_cpu("linear_cross_entropy", fused_on(x));
  check_cross_entropy_gradient(grad, x, weight, residual);
  const Tensor by_row = grad.unsqueeze(1);
  const Tensor d_x = (linear_no_grad(residual, weight.t()) * by_row).to(x.scalar_type());
  const Tensor d_weight = matmul_tn(residual, (x * by_row).to(x.scalar_type()));
  return {d_x, d_weight, at::mv(residual.t(), grad.to(residual.scalar_type())).to(at::kFloat)};
}

// --- shapes ----------------------------------------------------------------------------------------------------------

CrossEntropyForward linear_cross_entropy_meta(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                              const Tensor& target, double smoothing, bool keep_residual) {
  check_cross_entropy(x, weight, bias, target, smoothing);
  const auto entropies = x.options().dtype(entropy_dtype(x));
  return {
      at::empty_symint(target.sym_sizes(), entropies), at::empty_symint(target.sym_sizes(), entropies),
      keep_residual ? at::empty_symint({x.sym_size(0), weight.sym_size(0)}, x.options()) : at::empty({0}, x.options())};
}

std::tuple<Tensor, Tensor, Tensor> linear_cross_entropy_backward_meta(const Tensor& grad, const Tensor& x,
                                                                      const Tensor& weight, const Tensor& residual) {
  check_cross_entropy_gradient(grad, x, weight, residual);
  return {empty_as(x), empty_as(weight), at::empty_symint({weight.sym_size(0)}, x.options().dtype(at::kFloat))};
}

// --- gradient --------------------------------------------------------------------------------------------------------

CrossEntropyForward call_cross_entropy(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                       const Tensor& target, double smoothing, bool keep_residual) {
  static const auto op = operator_handle<decltype(linear_cross_entropy_composite)>("cachet::linear_cross_entropy");
  return op.call(x, weight, bias, target, smoothing, keep_residual);
}

struct LinearCrossEntropy : torch::autograd::Function<LinearCrossEntropy> {
  static torch::autograd::variable_list forward(torch::autograd::AutogradContext* ctx, const Tensor& x,
                                                const Tensor& weight, const OptionalTensor& bias, const Tensor& target,
                                                double smoothing) {
    at::AutoDispatchBelowADInplaceOrView below;
    const auto [loss, likelihood, residual] =
        call_cross_entropy(x, weight, bias, target, smoothing, /*keep_residual=*/true);
    ctx->save_for_backward({x, weight, residual});
    ctx->saved_data["bias"] = static_cast<int64_t>(bias ? bias->scalar_type() : at::ScalarType::Undefined);
    ctx->mark_non_differentiable({likelihood, residual});
    ctx->set_materialize_grads(false);  // zeros for the residual would be as large as all scores
    return {loss, likelihood, residual};
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list grads) {
    static const auto op =
        operator_handle<decltype(linear_cross_entropy_backward_cpu)>("cachet::linear_cross_entropy_backward");
    if (!grads[0].defined()) return torch::autograd::variable_list(5);
    const auto saved = ctx->get_saved_variables();
    const auto [d_x, d_weight, d_bias] = op.call(grads[0], saved[0], saved[1], saved[2]);
    const auto of_bias = static_cast<at::ScalarType>(ctx->saved_data["bias"].toInt());
    return {d_x, d_weight, of_bias == at::ScalarType::Undefined ? Tensor() : d_bias.to(of_bias), Tensor(), Tensor()};
  }
};

CrossEntropyForward linear_cross_entropy_autograd(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                                  const Tensor& target, double smoothing, bool keep_residual) {
  if (fused_on(x, "linear_cross_entropy") == FusedOn::none)
    return linear_cross_entropy_composite(x, weight, bias, target, smoothing, keep_residual);
  if (!wants_gradient(x, weight, bias)) {
    at::AutoDispatchBelowADInplaceOrView below;
    return call_cross_entropy(x, weight, bias, target, smoothing, keep_residual);
  }
  const auto out = LinearCrossEntropy::apply(x, weight, bias, target, smoothing);
  return {out[0], out[1], keep_residual ? out[2] : at::empty({0}, x.options())};
}

}  // namespace

CrossEntropies linear_cross_entropy(const Tensor& x, const Tensor& weight, const OptionalTensor& bias,
                                    const Tensor& target, double label_smoothing) {
  const auto [loss, likelihood, residual] =
      call_cross_entropy(x, weight, bias, target, label_smoothing, /*keep_residual=*/false);
  return {loss, likelihood};
}

TORCH_LIBRARY_FRAGMENT(cachet, m) {
  Operator(m,
           "linear_cross_entropy(Tensor x, Tensor weight, Tensor? bias, Tensor target, float label_smoothing=0., "
           "bool keep_residual=False) -> (Tensor, Tensor, Tensor)")
      .composite(linear_cross_entropy_composite)
      .cpu(linear_cross_entropy_cpu)
      .meta(linear_cross_entropy_meta)
      .autograd(linear_cross_entropy_autograd)
      .autocast<call_cross_entropy, 0, 1>();
  Operator(m,
           "linear_cross_entropy_backward(Tensor grad, Tensor x, Tensor weight, Tensor residual) "
           "-> (Tensor, Tensor, Tensor)")
      .cpu(linear_cross_entropy_backward_cpu)
      .meta(linear_cross_entropy_backward_meta)
      .without_gradient("linear_cross_entropy", kFusedOnce);
}

}  // namespace cachet::ops
