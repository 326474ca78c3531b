#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/base/cloneable.h"

namespace cachet::models {

struct ConvolutionOptions {
  int64_t inputs = 0, outputs = 0;
  int64_t side = 3, stride = 1;
};

/// A convolution of a detection head, with a bias and zero padding of half the kernel size. Parameters: weight, bias.
class Convolution : public nn::Cloneable<Convolution> {
 public:
  explicit Convolution(const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& map) const;

  nn::RegisteredTensor weight, bias;  // (outputs, inputs, side, side), (outputs); zeros before initialization

 private:
  int64_t stride_, padding_;
};

/// A Convolution whose parameter names begin with `conv`, as in mmdetection.
class NamedConvolution : public nn::Cloneable<NamedConvolution> {
 public:
  explicit NamedConvolution(const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& map) const { return conv->forward(map); }

  nn::Submodule<Convolution> conv;
};

}  // namespace cachet::models
