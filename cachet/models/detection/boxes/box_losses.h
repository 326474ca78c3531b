#pragma once

#include <ATen/core/Tensor.h>

#include "cachet/config/view.h"

namespace cachet::models {

/// The loss of box deltas: their distance from the targets.
struct BoxLossOptions {
  double beta = 0;    // 0: L1 loss; above 0: smooth L1 loss, which is quadratic below beta (arXiv 1504.08083)
  double weight = 1;  // factor of the loss

  /// Reads the keys of the table `loss_bbox`: beta, loss_weight.
  static BoxLossOptions read(const config::View& table, BoxLossOptions defaults);
};

/// Returns the sum of the loss over all elements.
at::Tensor box_loss(const at::Tensor& deltas, const at::Tensor& targets, const BoxLossOptions& options);

/// The options of the focal loss of logits (Lin et al., arXiv 1708.02002, Eq. 5).
struct FocalLossOptions {
  double gamma = 2, alpha = 0.25, weight = 1;

  /// Reads the keys of the table `loss_cls`: gamma, alpha, loss_weight.
  static FocalLossOptions read(const config::View& table, FocalLossOptions defaults);
};

/// logits (n, classes), labels (n) int64 (label `classes` is the background) -> the sum of the loss over all elements.
at::Tensor focal_loss(const at::Tensor& logits, const at::Tensor& labels, const FocalLossOptions& options);

}  // namespace cachet::models
