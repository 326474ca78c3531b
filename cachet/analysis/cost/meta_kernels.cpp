#include "cachet/analysis/cost/meta_kernels.h"

#include <ATen/ExpandUtils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <vector>

namespace cachet::analysis {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

// x (B, C, …), weight (N, C / groups, …), or (C, N / groups, …) where transposed
Tensor convolution_shape(const Tensor& x, const Tensor& weight, const OptionalTensor&, at::IntArrayRef stride,
                         at::IntArrayRef padding, at::IntArrayRef dilation, bool transposed,
                         at::IntArrayRef output_padding, int64_t groups) {
  std::vector<int64_t> shape{x.size(0), transposed ? weight.size(1) * groups : weight.size(0)};
  const auto along = [](at::IntArrayRef values, size_t i) { return values.size() == 1 ? values[0] : values[i]; };
  for (size_t i = 0; static_cast<int64_t>(i) + 2 < x.dim(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t reach = along(dilation, i) * (weight.size(axis) - 1);
    if (transposed)
      shape.push_back((x.size(axis) - 1) * along(stride, i) - 2 * along(padding, i) + reach + along(output_padding, i) +
                      1);
    else
      shape.push_back((x.size(axis) + 2 * along(padding, i) - reach - 1) / along(stride, i) + 1);
  }
  return at::empty(shape, x.options());
}

// Gradients of x, weight and bias, those that are asked for.
ThreeTensors convolution_gradient_shapes(const Tensor& gradient, const Tensor& x, const Tensor& weight, at::IntArrayRef,
                                         at::IntArrayRef, at::IntArrayRef, bool, at::IntArrayRef, int64_t,
                                         std::array<bool, 3> asked) {
  return {asked[0] ? at::empty_like(x) : Tensor(), asked[1] ? at::empty_like(weight) : Tensor(),
          asked[2] ? at::empty({gradient.size(1)}, gradient.options()) : Tensor()};
}

// x (…, normalised…): one mean and deviation for each of the leading positions
ThreeTensors layer_norm_shape(const Tensor& x, at::IntArrayRef normalised, const OptionalTensor&, const OptionalTensor&,
                              double) {
  std::vector<int64_t> shape = x.sizes().vec();
  std::fill(shape.end() - static_cast<std::ptrdiff_t>(normalised.size()), shape.end(), 1);
  return {at::empty_like(x), at::empty(shape, x.options()), at::empty(shape, x.options())};
}

// x (B, C, …): what is saved of a batch is empty in evaluation
ThreeTensors batch_norm_shape(const Tensor& x, const OptionalTensor&, const OptionalTensor&, const OptionalTensor&,
                              const OptionalTensor&, bool training, double, double) {
  const int64_t channels = training ? x.size(1) : 0;
  return {at::empty_like(x), at::empty({channels}, x.options()), at::empty({channels}, x.options())};
}

Tensor& where_shape(const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& out) {
  out.resize_(at::infer_size(condition.sizes(), at::infer_size(a.sizes(), b.sizes())));
  return out;
}

Tensor where_self_shape(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const at::DimVector sizes =
      at::infer_size_dimvector(condition.sizes(), at::infer_size_dimvector(a.sizes(), b.sizes()));
  return at::empty(sizes, condition.options().dtype(at::result_type(a, b)).device(at::kMeta));
}

Tensor relu_shape(const Tensor& x) { return at::empty_like(x); }

Tensor& relu_in_place(Tensor& x) { return x; }

// x (…, H, W)
Tensor adaptive_average_shape(const Tensor& x, at::IntArrayRef size) {
  std::vector<int64_t> shape = x.sizes().vec();
  std::copy(size.begin(), size.end(), shape.end() - 2);
  return at::empty(shape, x.options());
}

// x (B, C, H, W) or (C, H, W): (…, C · kernel, windows)
Tensor im2col_shape(const Tensor& x, at::IntArrayRef kernel, at::IntArrayRef dilation, at::IntArrayRef padding,
                    at::IntArrayRef stride) {
  std::vector<int64_t> shape = x.sizes().vec();
  int64_t windows = 1;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = dilation[i] * (kernel[i] - 1);
    windows *= (x.size(static_cast<int64_t>(i) - 2) + 2 * padding[i] - reach - 1) / stride[i] + 1;
  }
  shape.pop_back();
  shape.back() = windows;
  shape[shape.size() - 2] *= kernel[0] * kernel[1];
  return at::empty(shape, x.options());
}

// `ids` may have values, on another device.
Tensor index_select_shape(const Tensor& x, int64_t dim, const Tensor& ids) {
  std::vector<int64_t> shape = x.sizes().vec();
  if (!shape.empty()) shape[static_cast<size_t>(at::maybe_wrap_dim(dim, x.dim()))] = ids.numel();
  return at::empty(shape, x.options());
}

template <class Kernel>
void add_missing(torch::Library& library, const char* name, const char* overload, Kernel* kernel) {
  const auto op = c10::Dispatcher::singleton().findSchema({std::string("aten::") + name, overload});
  if (!op || op->hasKernelForDispatchKey(c10::DispatchKey::Meta)) return;
  library.impl((std::string(name) + (*overload ? "." : "") + overload).c_str(), kernel);
}

}  // namespace

void register_meta_kernels() {
  static const torch::Library library = [] {
    torch::Library made(torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__);
    add_missing(made, "convolution_overrideable", "", convolution_shape);
    add_missing(made, "convolution_backward_overrideable", "", convolution_gradient_shapes);
    add_missing(made, "native_layer_norm", "", layer_norm_shape);
    add_missing(made, "native_batch_norm", "", batch_norm_shape);
    add_missing(made, "relu", "", relu_shape);
    add_missing(made, "relu_", "", relu_in_place);
    add_missing(made, "_adaptive_avg_pool2d", "", adaptive_average_shape);
    add_missing(made, "im2col", "", im2col_shape);
    add_missing(made, "index_select", "", index_select_shape);
    add_missing(made, "where", "self_out", where_shape);
    add_missing(made, "where", "self", where_self_shape);
    return made;
  }();
}

}  // namespace cachet::analysis
