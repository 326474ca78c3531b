#include "cachet/models/detection/heads/roi_head.h"

#include <ATen/ATen.h>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/ops/detection/roi_align.h"
#include "cachet/ops/support/finite.h"

namespace cachet::models {
namespace {

/// Regions of synthetic boxes, cut out of each level in equal parts by its index alone: sizes depend on no value.
at::Tensor trial_regions(const std::vector<at::Tensor>& levels, int64_t count, const RoiExtractorOptions& o) {
  std::vector<at::Tensor> cut;
  const auto number = static_cast<int64_t>(o.strides.size());
  const int64_t images = levels.front().size(0);
  for (int64_t i = 0; i < number; ++i) {
    const int64_t here = count / number + (i < count % number ? 1 : 0);
    const auto stride = static_cast<double>(o.strides[static_cast<size_t>(i)]);
    // Two cells to a side of a bin.
    const at::Tensor side = at::full({images * here, 1}, 2.0 * stride * static_cast<double>(o.side), at::kFloat);
    const at::Tensor image = at::arange(images, at::kFloat).repeat_interleave(here).unsqueeze(1);
    const at::Tensor boxes = at::cat({image, side * 0, side * 0, side, side}, 1);
    const at::Tensor& level = levels[static_cast<size_t>(i)];
    cut.push_back(ops::roi_align(level, boxes.to(level.device()), {o.side, o.side, 1 / stride, o.sampling}));
  }
  return at::cat(cut);
}

}  // namespace

RoiHeadOptions RoiHeadOptions::read(const config::View& parent, RoiHeadOptions o) {
  const config::View table = parent.table("roi_head");
  o.assigner = AssignmentOptions::read(table, o.assigner);
  o.sampler = SampleOptions::read(table, o.sampler);
  o.extractor = RoiExtractorOptions::read(table.table("bbox_roi_extractor"), o.extractor);
  o.box = BoxHeadOptions::read(table, o.box);
  o.limits = DetectionLimits::read(parent.table("test"), o.limits);
  if (!o.mask) return o;
  o.mask->extractor = RoiExtractorOptions::read(table.table("mask_roi_extractor"), o.mask->extractor);
  o.mask->head = MaskHeadOptions::read(table, o.mask->head);
  o.mask->side = table.table("mask_head").integer("mask_size", 2 * o.mask->extractor.side, {1, 512});
  if (o.mask->side != 2 * o.mask->extractor.side)
    table.table("mask_head")
        .problem("mask_size", "must be " + std::to_string(2 * o.mask->extractor.side) +
                                  ": the mask head doubles the output_size of mask_roi_extractor");
  return o;
}

RoiHead::RoiHead(const RoiHeadOptions& options, int64_t channels) : Cloneable("RoIHead"), options_(options) {
  const int64_t side = options_.extractor.side;
  box_ = register_module("bbox_head", std::make_shared<BoxHead>(options_.box, channels * side * side));
  if (options_.mask) mask_ = register_module("mask_head", std::make_shared<MaskHead>(options_.mask->head, channels));
}

std::vector<BoxSample> RoiHead::samples(const std::vector<at::Tensor>& proposals, const DetectionBatch& batch) const {
  const at::NoGradGuard no_grad;
  std::vector<BoxSample> taken;
  for (size_t image = 0; image < proposals.size(); ++image) {
    const at::Tensor& boxes = proposals[image];
    const auto& target = batch.targets[image];
    const at::Tensor objects = target.boxes.to(boxes.options());
    const Assignment assigned = assign(boxes, objects, target.ignored, options_.assigner);
    const int64_t count = candidates(boxes, objects, options_.sampler);
    taken.push_back(
        sample(boxes, assigned, objects, batch.priorities(SamplingPlace::proposals, image, count), options_.sampler));
  }
  return taken;
}

RoiLosses RoiHead::losses(const std::vector<at::Tensor>& levels, const std::vector<BoxSample>& samples,
                          const DetectionBatch& batch) const {
  std::vector<at::Tensor> labels, boxes, positives, positive_labels, masks;
  for (size_t image = 0; image < samples.size(); ++image) {
    const BoxSample& sample = samples[image];
    labels.push_back(batch.targets[image].labels);
    boxes.push_back(with_image(sample.boxes, image));
    if (!mask_) continue;
    TORCH_CHECK(batch.targets[image].masks, "detector: image ", image,
                " of the batch has no masks, but the mask head needs masks for training");
    positives.push_back(boxes.back().narrow(0, 0, sample.positive_count()));
    positive_labels.push_back(labels.back().to(sample.objects.device()).index_select(0, sample.objects));
    masks.push_back(batch.targets[image].masks(sample.positive_boxes(), sample.objects, options_.mask->side));
  }
  RoiLosses losses;
  const at::Tensor regions = extract_rois(levels, at::cat(boxes), options_.extractor);
  losses.box = box_->losses(box_->forward(regions), box_targets(samples, labels, options_.box));
  if (!mask_) return losses;
  const at::Tensor outlined = extract_rois(levels, at::cat(positives), options_.mask->extractor);
  losses.mask = mask_->loss(mask_->forward(outlined), at::cat(masks), at::cat(positive_labels));
  return losses;
}

at::Tensor RoiHead::mask_scores(const std::vector<at::Tensor>& levels, const at::Tensor& boxes,
                                const at::Tensor& labels, size_t image) const {
  const at::Tensor regions = extract_rois(levels, with_image(boxes, image), options_.mask->extractor);
  return MaskHead::scores(mask_->forward(regions), labels);
}

std::vector<Detections> RoiHead::detections(const std::vector<at::Tensor>& levels,
                                            const std::vector<at::Tensor>& proposals,
                                            const std::vector<DetectionImage>& sizes, DetectionFrame frame) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> boxes;
  std::vector<int64_t> counts;
  for (size_t image = 0; image < proposals.size(); ++image) {
    boxes.push_back(with_image(proposals[image], image));
    counts.push_back(proposals[image].size(0));
  }
  const BoxOutputs out = box_->forward(extract_rois(levels, at::cat(boxes), options_.extractor));
  ops::require_finite_scores(out.scores);
  ops::require_finite_scores(out.deltas);
  const auto scores = out.scores.split_with_sizes(counts), deltas = out.deltas.split_with_sizes(counts);
  std::vector<Detections> all;
  for (size_t image = 0; image < proposals.size(); ++image) {
    const auto& place = sizes[image];
    const auto [decoded, probabilities] = box_->decode(proposals[image], {scores[image], deltas[image]}, place, frame);
    all.push_back(multiclass_nms(decoded, probabilities, options_.limits));
    if (!mask_) continue;
    const at::Tensor scale = at::tensor(std::vector<double>(place.scale.begin(), place.scale.end()), at::kDouble);
    const at::Tensor& found = all.back().boxes;
    const at::Tensor in_batch = frame == DetectionFrame::original ? found * scale.to(found.options()) : found;
    all.back().mask_scores = mask_scores(levels, in_batch, all.back().labels, image);
    ops::require_finite_scores(all.back().mask_scores);
  }
  return all;
}

at::Tensor RoiHead::box_scores(const std::vector<at::Tensor>& levels, const at::Tensor& boxes) const {
  std::vector<at::Tensor> of_images;
  for (int64_t image = 0; image < levels.front().size(0); ++image)
    of_images.push_back(with_image(boxes, static_cast<size_t>(image)));
  const at::Tensor scores = box_->forward(extract_rois(levels, at::cat(of_images), options_.extractor)).scores;
  ops::require_finite_scores(scores);
  return scores;
}

std::vector<at::Tensor> RoiHead::trial(const std::vector<at::Tensor>& levels, int64_t count, int64_t masks) const {
  const BoxOutputs out = box_->forward(trial_regions(levels, count, options_.extractor));
  std::vector<at::Tensor> all{out.scores, out.deltas};
  if (mask_) all.push_back(mask_->forward(trial_regions(levels, masks, options_.mask->extractor)));
  return all;
}

}  // namespace cachet::models
