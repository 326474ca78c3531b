#include "cachet/models/detection/heads/head_convolution.h"

#include "cachet/models/map_convolution.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::models {

Convolution::Convolution(const ConvolutionOptions& o) : Cloneable("Conv2d"), stride_(o.stride), padding_(o.side / 2) {
  weight = register_parameter("weight", nn::zeros({o.outputs, o.inputs, o.side, o.side}));
  bias = register_parameter("bias", nn::zeros({o.outputs}));
}

at::Tensor Convolution::forward(const at::Tensor& map) const {
  TORCH_CHECK(map.dim() == 4 && map.size(1) == weight.size(1), "convolution: a map must be (B, ", weight.size(1),
              ", H, W), got ", map.sizes());
  return convolve_map(map, weight, bias, stride_, padding_);
}

NamedConvolution::NamedConvolution(const ConvolutionOptions& options) : Cloneable("ConvModule") {
  conv = register_module("conv", std::make_shared<Convolution>(options));
}

}  // namespace cachet::models
