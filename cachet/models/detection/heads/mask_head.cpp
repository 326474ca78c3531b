#include "cachet/models/detection/heads/mask_head.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/config/view.h"
#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::models {
namespace {

at::Tensor of_own_class(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor own = labels.view({-1, 1, 1, 1}).expand({-1, 1, logits.size(2), logits.size(3)});
  return logits.gather(1, own).squeeze(1);
}

}  // namespace

MaskHeadOptions MaskHeadOptions::read(const config::View& parent, MaskHeadOptions o) {
  const config::View table = parent.table("mask_head");
  o.convolutions = table.integer("num_convs", o.convolutions, {0, 64});
  o.channels = table.integer("conv_out_channels", o.channels, {1, 1 << 14});
  o.loss_weight = table.table("loss_mask").real("loss_weight", o.loss_weight, {0.0, 1e4});
  return o;
}

MaskHead::MaskHead(const MaskHeadOptions& options, int64_t inputs) : Cloneable("FCNMaskHead"), options_(options) {
  const auto& o = options_;
  const at::NoGradGuard no_grad;
  const auto convolutions = register_module("convs", torch::nn::ModuleList());
  int64_t width = inputs;
  for (int64_t i = 0; i < o.convolutions; ++i, width = o.channels) {
    convolutions_.push_back(std::make_shared<NamedConvolution>(ConvolutionOptions{width, o.channels}));
    convolutions->push_back(convolutions_.back());
    nn::convolution_normal_(convolutions_.back()->conv->weight);
  }
  upsample_ = register_module("upsample", std::make_shared<nn::ModuleGroup>("ConvTranspose2d"));
  upsample_weight_ = upsample_->register_parameter("weight", nn::zeros({width, o.channels, 2, 2}));
  upsample_bias_ = upsample_->register_parameter("bias", at::zeros({o.channels}));
  nn::convolution_normal_(upsample_weight_);
  logits_ = register_module("conv_logits", std::make_shared<Convolution>(ConvolutionOptions{o.channels, o.classes, 1}));
  nn::convolution_normal_(logits_->weight);
}

at::Tensor MaskHead::forward(const at::Tensor& regions) const {
  at::Tensor x = regions;
  for (const auto& convolution : convolutions_) x = convolution->forward(x).relu();
  x = at::conv_transpose2d(x, upsample_weight_, upsample_bias_, 2).relu();
  return widened(logits_->forward(x));
}

at::Tensor MaskHead::loss(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& labels) const {
  if (labels.size(0) == 0) return logits.sum() * options_.loss_weight;
  return at::binary_cross_entropy_with_logits(of_own_class(logits, labels), targets.to(logits.scalar_type())) *
         options_.loss_weight;
}

at::Tensor MaskHead::scores(const at::Tensor& logits, const at::Tensor& labels) {
  return of_own_class(logits, labels).sigmoid();
}

}  // namespace cachet::models
