#pragma once

#include <ATen/core/Tensor.h>

namespace cachet::nn {

/// Fills a tensor in place from a normal distribution of mean 0, truncated at ±2, as in vision transformers.
at::Tensor& truncated_normal_(at::Tensor& tensor, double standard_deviation = 0.02);

/// Fills a tensor in place from a normal distribution of mean 0.
at::Tensor& normal_(at::Tensor& tensor, double standard_deviation);

/// Fills a convolution's weight (out, in / groups, height, width) in place from a normal distribution. The variance is
/// 2 / fan out = 2 / (height · width · out / groups) (He et al., arXiv 1502.01852), as in PVT v2.
at::Tensor& convolution_normal_(at::Tensor& weight, int64_t groups = 1);

/// Fills the matrices (…, rows, columns) in place from a uniform distribution of variance 2/(rows + columns)
/// (Glorot & Bengio 2010).
at::Tensor& xavier_uniform_(at::Tensor& matrices);

/// Fills a convolution's weight (out, in, side, side) in place from a uniform distribution of variance
/// 2 / (fan in + fan out) = 2/(side² · (in + out)).
at::Tensor& convolution_xavier_uniform_(at::Tensor& weight);

/// Fills the square matrices (…, n, n) in place with random orthogonal matrices (Saxe et al., arXiv 1312.6120).
at::Tensor& orthogonal_(at::Tensor& matrices);

/// Multiplies initial weights by a number, in place.
at::Tensor& scale_(at::Tensor& weights, double factor);

/// Returns a new tensor of zeros for the weights or the state of a module.
at::Tensor zeros(at::IntArrayRef sizes);

/// A new weight (out, in, side, side) of a convolution, and its bias. Weight and bias are initialised at random as in
/// LibTorch's Conv2d.
struct ConvolutionWeights {
  at::Tensor weight, bias;
};
ConvolutionWeights convolution_weights(int64_t outputs, int64_t inputs, int64_t side);

/// As long as a WithoutInitialization object exists, the functions of this header write no values on its thread: new
/// tensors stay uninitialized. Use WithoutInitialization for models whose weights are never used or are replaced at
/// once. WithoutInitialization skips the random initialization, which takes most of the time to build a model.
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
