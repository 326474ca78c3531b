#include "cachet/models/detection/boxes/multiclass_nms.h"

#include <ATen/ATen.h>

#include "cachet/ops/detection/nms.h"

namespace cachet::models {

DetectionLimits DetectionLimits::read(const config::View& table, DetectionLimits o) {
  o.least_score = table.real("score_thr", o.least_score, {0.0, 1.0});
  o.iou_threshold = table.real("nms_iou_threshold", o.iou_threshold, {0.0, 1.0});
  o.most = table.integer("max_per_img", o.most, {-1, 1'000'000});
  return o;
}

Detections multiclass_nms(const at::Tensor& boxes, const at::Tensor& scores, const DetectionLimits& limits) {
  const int64_t classes = scores.size(1) - 1;
  const at::Tensor of_class = boxes.size(1) > 4 ? boxes.view({boxes.size(0), classes, 4})
                                                : boxes.unsqueeze(1).expand({boxes.size(0), classes, 4});
  const at::Tensor objects = scores.narrow(1, 0, classes);
  const at::Tensor indices = (objects > limits.least_score).flatten().nonzero().squeeze(1);
  const at::Tensor found = of_class.reshape({-1, 4}).index_select(0, indices);
  const at::Tensor sure = objects.flatten().index_select(0, indices), labels = indices.remainder(classes);
  at::Tensor kept = ops::nms_indices(found, sure, labels, limits.iou_threshold);
  if (limits.most >= 0) kept = kept.narrow(0, 0, std::min(limits.most, kept.size(0)));
  return {found.index_select(0, kept), sure.index_select(0, kept), labels.index_select(0, kept), {}};
}

}  // namespace cachet::models
