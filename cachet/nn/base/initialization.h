#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Fills a tensor in place from a normal distribution of mean 0, cut off at ±2, as vision transformers are initialised.
at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation = 0.02);

/// Fills a tensor in place from a normal distribution of mean 0.
at::Tensor& normal_(at::Tensor& tensor, double standard_deviation);

/// Fills a convolution's weight (out, in / groups, height, width) in place from a normal distribution of variance
/// 2 / (what one input feeds: height · width · out / groups), as PVT v2 starts (He et al., arXiv 1502.01852, fan out).
at::Tensor& convolution_normal_(at::Tensor& weight, int64_t groups = 1);

/// Fills the matrices (…, rows, columns) in place from a uniform distribution of variance 2/(rows + columns)
/// (Glorot & Bengio 2010).
at::Tensor& xavier_uniform_(at::Tensor& matrices);

/// Fills a convolution's weight (out, in, side, side) in place from a uniform distribution of variance
/// 2/(side² · (in + out)): its fans count the side² taps.
at::Tensor& convolution_xavier_uniform_(at::Tensor& weight);

/// Fills the square matrices (…, n, n) in place with random orthogonal ones (Saxe et al., arXiv 1312.6120).
at::Tensor& orthogonal_(at::Tensor& matrices);

/// Multiplies weights that the functions above have drawn by a number, in place.
at::Tensor& scale_(at::Tensor& weights, double factor);

/// A new tensor of zeros: weights, or the state of a module.
at::Tensor zeros(at::IntArrayRef sizes);

/// A new weight (out, in, side, side) of a convolution and its bias, both drawn as LibTorch's Conv2d draws them.
struct ConvolutionWeights {
  at::Tensor weight, bias;
};
ConvolutionWeights convolution_weights(int64_t outputs, int64_t inputs, int64_t side);

/// While it lives, the functions above leave tensors of this thread as they are, or as they were allocated: for models
/// whose weights are never looked at, or are replaced at once. Drawing them is what building a model takes its time
/// for.
class WithoutInitialization {
 public:
  WithoutInitialization();
  ~WithoutInitialization();
  WithoutInitialization(const WithoutInitialization&) = delete;
  WithoutInitialization& operator=(const WithoutInitialization&) = delete;

 private:
  bool before_;
};

}  // namespace cachet::nn
