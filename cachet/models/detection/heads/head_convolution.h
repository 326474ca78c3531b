#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/nn/base/cloneable.h"

namespace cachet::models {

struct ConvolutionOptions {
  int64_t inputs = 0, outputs = 0;
  int64_t side = 3, stride = 1;
};

/// A convolution of a head, with a bias; its border is filled with zeros by half of its side. Parameters: weight, bias.
class Convolution : public nn::Cloneable<Convolution> {
 public:
  explicit Convolution(const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& map) const;

  nn::RegisteredTensor weight, bias;  // (outputs, inputs, side, side), (outputs); zeros until somebody draws them

 private:
  int64_t stride_, padding_;
};

/// The same within a part of its own, `conv`, as mmdetection names them.
class NamedConvolution : public nn::Cloneable<NamedConvolution> {
 public:
  explicit NamedConvolution(const ConvolutionOptions& options);
  at::Tensor forward(const at::Tensor& map) const { return conv->forward(map); }

  nn::Submodule<Convolution> conv;
};

}  // namespace cachet::models
