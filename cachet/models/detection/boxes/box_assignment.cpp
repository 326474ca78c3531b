#include "cachet/models/detection/boxes/box_assignment.h"

#include <ATen/ATen.h>

#include "cachet/models/detection/boxes/boxes.h"

namespace cachet::models {
namespace {

at::Tensor on_ignored(const at::Tensor& boxes, const at::Tensor& ignored, const AssignmentOptions& o) {
  const at::Tensor overlap = o.ignored_by_box ? box_share(boxes, ignored).amax(1) : box_share(ignored, boxes).amax(0);
  return overlap > o.ignored_share;
}

/// For each box the last object of which it is (one of) the best, 1 + its number; 0 for none.
at::Tensor best_of(const at::Tensor& overlaps, const AssignmentOptions& o) {  // (objects, boxes)
  const auto [largest, first] = overlaps.max(1, /*keepdim=*/true);
  at::Tensor best = o.all_best ? overlaps == largest : at::zeros_like(overlaps, at::kBool).scatter_(1, first, 1);
  best &= largest >= o.least_positive_iou;
  const at::Tensor number = at::arange(1, overlaps.size(0) + 1, best.options().dtype(at::kLong)).unsqueeze(1);
  return (number * best).amax(0);
}

}  // namespace

AssignmentOptions AssignmentOptions::read(const config::View& parent, AssignmentOptions o) {
  const config::View table = parent.table("assigner");
  constexpr config::Range<double> kShare{0.0, 1.0};
  o.positive_iou = table.real("pos_iou_thr", o.positive_iou, kShare);
  o.negative_iou = table.real("neg_iou_thr", o.negative_iou, kShare);
  o.least_positive_iou = table.real("min_pos_iou", o.least_positive_iou, kShare);
  o.match_low_quality = table.boolean("match_low_quality", o.match_low_quality);
  o.all_best = table.boolean("gt_max_assign_all", o.all_best);
  o.ignored_share = table.real("ignore_iof_thr", o.ignored_share, {-1.0, 1.0});
  o.ignored_by_box = table.boolean("ignore_wrt_candidates", o.ignored_by_box);
  if (o.negative_iou > o.positive_iou)
    table.problem("neg_iou_thr", "must be at most pos_iou_thr; otherwise a box could be both background and object");
  return o;
}

Assignment assign(const at::Tensor& boxes, const at::Tensor& objects, const at::Tensor& ignored,
                  const AssignmentOptions& o) {
  const int64_t count = boxes.size(0), number = objects.size(0);
  Assignment all{at::full({count}, Assignment::kLeftOut, boxes.options().dtype(at::kLong)),
                 at::zeros({count}, boxes.options())};
  if (number == 0) all.objects.fill_(Assignment::kBackground);
  if (count == 0 || number == 0) return all;

  at::Tensor overlaps = box_iou(objects, boxes);  // (objects, boxes)
  if (o.ignored_share >= 0 && ignored.defined() && ignored.size(0) > 0)
    overlaps.masked_fill_(on_ignored(boxes, ignored, o).unsqueeze(0), -1);
  const auto [largest, nearest] = overlaps.max(0);
  all.overlaps = largest;
  all.objects.masked_fill_((largest >= 0) & (largest < o.negative_iou), Assignment::kBackground);
  all.objects = at::where(largest >= o.positive_iou, nearest + 1, all.objects);
  if (o.match_low_quality) {
    const at::Tensor best = best_of(overlaps, o);
    all.objects = at::where(best > 0, best, all.objects);
  }
  return all;
}

}  // namespace cachet::models
