#include "cachet/models/detection/boxes/box_losses.h"

#include <ATen/ATen.h>

namespace cachet::models {

BoxLossOptions BoxLossOptions::read(const config::View& parent, BoxLossOptions o) {
  const config::View table = parent.table("loss_bbox");
  o.beta = table.real("beta", o.beta, {0.0, 100.0});
  o.weight = table.real("loss_weight", o.weight, {0.0, 1e4});
  return o;
}

FocalLossOptions FocalLossOptions::read(const config::View& parent, FocalLossOptions o) {
  const config::View table = parent.table("loss_cls");
  o.gamma = table.real("gamma", o.gamma, {0.0, 10.0});
  o.alpha = table.real("alpha", o.alpha, {0.0, 1.0});
  o.weight = table.real("loss_weight", o.weight, {0.0, 1e4});
  return o;
}

at::Tensor box_loss(const at::Tensor& deltas, const at::Tensor& targets, const BoxLossOptions& o) {
  const at::Tensor distance = (deltas - targets).abs();
  if (o.beta == 0) return distance.sum() * o.weight;
  return at::where(distance < o.beta, distance.square() * (0.5 / o.beta), distance - 0.5 * o.beta).sum() * o.weight;
}

at::Tensor focal_loss(const at::Tensor& logits, const at::Tensor& labels, const FocalLossOptions& o) {
  const at::Tensor target = (labels.unsqueeze(1) == at::arange(logits.size(1), labels.options())).to(logits.options());
  const at::Tensor p = logits.sigmoid();
  const at::Tensor wrong = (1 - p) * target + p * (1 - target);
  const at::Tensor focus = (o.alpha * target + (1 - o.alpha) * (1 - target)) * wrong.pow(o.gamma);
  return (at::binary_cross_entropy_with_logits(logits, target, {}, {}, at::Reduction::None) * focus).sum() * o.weight;
}

}  // namespace cachet::models
