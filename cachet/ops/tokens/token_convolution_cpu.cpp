#include "cachet/ops/tokens/token_convolution_cpu.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>

#include "cachet/kernels/token_convolution.h"
#include "cachet/ops/support/fused.h"

namespace cachet::ops {
namespace {

using at::Tensor;

kernels::ConvolutionShape shape_of(const Tensor& tokens, const Tensor& weight, const TokenGrid& grid) {
  return {grid.height, grid.width, tokens.size(2), weight.size(1)};
}

Tensor packed(const Tensor& weight, const kernels::ConvolutionShape& shape, bool transposed) {
  const Tensor wide = weight.to(at::kFloat).contiguous();
  const Tensor out = at::empty({9, shape.group, shape.channels}, wide.options());
  kernels::pack_convolution(data<float>(wide), mutable_data<float>(out), shape, transposed);
  return out;
}

// Convolves every sample of x (B, L, D) and writes all of out, class tokens too.
void convolve(const Tensor& x, const Tensor& weights, const Tensor& bias, const Tensor& addend, const Tensor& out,
              const kernels::ConvolutionShape& shape, int64_t class_tokens, bool gelu) {
  const int64_t dim = shape.channels, sample = x.size(1) * dim, row = shape.width * dim;
  if (class_tokens > 0) {
    Tensor front = out.narrow(1, 0, class_tokens);
    if (addend.defined()) {
      const Tensor kept = addend.narrow(1, 0, class_tokens);
      front.copy_(gelu ? at::gelu(kept) : kept);
    } else {
      front.zero_();  // of GELU too
    }
  }
  const auto end = gelu ? kernels::ConvolutionEnd::gelu : kernels::ConvolutionEnd::linear;
  for_type_of(x, [&]<class T>(T*) {
    const int64_t off_grid = class_tokens * dim;
    parallel(x.size(0) * shape.height, 9 * row, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const int64_t offset = i / shape.height * sample + off_grid;
        kernels::convolve_tokens(data<T>(x) + offset, data<float>(weights), data_or_null<float>(bias),
                                 addend.defined() ? data<T>(addend) + offset : nullptr, mutable_data<T>(out) + offset,
                                 shape, end, i % shape.height, i % shape.height + 1);
      }
    });
  });
}

}  // namespace

Tensor token_convolution_forward(const Tensor& tokens, const Tensor& weight, const OptionalTensor& bias,
                                 const OptionalTensor& addend, const TokenGrid& grid, bool gelu) {
  const auto shape = shape_of(tokens, weight, grid);
  const Tensor out = at::empty(tokens.sizes(), tokens.options());
  convolve(tokens.contiguous(), packed(weight, shape, false), float_vector(bias),
           addend ? addend->contiguous() : Tensor(), out, shape, grid.class_tokens, gelu);
  return out;
}

TokenConvolutionGradients token_convolution_gradients(const Tensor& grad, const Tensor& tokens, const Tensor& weight,
                                                      const TokenGrid& grid) {
  const auto shape = shape_of(tokens, weight, grid);
  const Tensor dy = grad.contiguous(), x = tokens.contiguous();
  const Tensor d_tokens = at::empty(x.sizes(), x.options());
  convolve(dy, packed(weight, shape, true), Tensor(), Tensor(), d_tokens, shape, grid.class_tokens, /*gelu=*/false);
  if (grid.class_tokens > 0) d_tokens.narrow(1, 0, grid.class_tokens).zero_();

  const Tensor d_packed = at::zeros({9, shape.group, shape.channels}, x.options().dtype(at::kFloat));
  constexpr int64_t kChannels = 64;  // whole vectors of whole groups, whatever the instruction set
  const int64_t sample = x.size(1) * shape.channels;
  for_type_of(x, [&]<class T>(T*) {
    parallel_chunks(shape.channels, kChannels, 9 * grid.height * grid.width, [&](int64_t, int64_t first, int64_t size) {
      for (int64_t b = 0; b < x.size(0); ++b) {
        const int64_t offset = b * sample + grid.class_tokens * shape.channels;
        kernels::convolve_tokens_weight_gradient(data<T>(dy) + offset, data<T>(x) + offset,
                                                 mutable_data<float>(d_packed), shape, first, first + size);
      }
    });
  });
  const Tensor d_weight = at::empty(weight.sizes(), d_packed.options());
  kernels::unpack_convolution(data<float>(d_packed), mutable_data<float>(d_weight), shape);
  const Tensor d_bias = dy.slice(1, grid.class_tokens).sum(at::IntArrayRef({0, 1}), /*keepdim=*/false, at::kFloat);
  return {d_tokens, d_weight.to(weight.scalar_type()), d_bias};
}

}  // namespace cachet::ops
