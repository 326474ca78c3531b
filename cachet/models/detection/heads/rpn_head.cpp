#include "cachet/models/detection/heads/rpn_head.h"

#include <ATen/ATen.h>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/nn/base/initialization.h"
#include "cachet/ops/detection/nms.h"

namespace cachet::models {
namespace {

constexpr double kRpnDeviation = 0.01;  // of the normal distribution that weights start from

/// 1 where an anchor shows an object, 0 where not, of a level's samples of one image.
struct LevelSample {
  at::Tensor scores, wanted;   // (s)
  at::Tensor deltas, targets;  // (p, 4)
};

LevelSample level_sample(const DenseOutputs& out, const DenseSample& sample, const std::vector<int64_t>& counts,
                         size_t level, int64_t image) {
  const InLevel positives = in_level(sample.positives, counts, level);
  const InLevel negatives = in_level(sample.negatives, counts, level);
  const at::Tensor scores = out.scores[level][image].squeeze(1), deltas = out.deltas[level][image];
  const at::Tensor indices = at::cat({positives.indices, negatives.indices});
  at::Tensor wanted = at::zeros({indices.size(0)}, scores.options());
  wanted.narrow(0, 0, positives.indices.size(0)).fill_(1);
  return {scores.index_select(0, indices), wanted, deltas.index_select(0, positives.indices),
          sample.deltas.index_select(0, positives.which)};
}

}  // namespace

ProposalLimits ProposalLimits::read(const config::View& table, ProposalLimits o) {
  o.per_level = table.integer("nms_pre", o.per_level, {-1, 1'000'000});
  o.most = table.integer("max_per_img", o.most, {1, 1'000'000});
  o.iou_threshold = table.real("nms_iou_threshold", o.iou_threshold, {0.0, 1.0});
  o.least_side = table.real("min_bbox_size", o.least_side, {-1.0, 1e5});
  return o;
}

RpnOptions RpnOptions::read(const config::View& parent, RpnOptions o) {
  const config::View table = parent.table("rpn_head");
  o.channels = table.integer("feat_channels", o.channels, {1, 1 << 14});
  o.targets.anchors = AnchorOptions::read(table, o.targets.anchors);
  o.targets.assigner = AssignmentOptions::read(table, o.targets.assigner);
  o.targets.sampler = SampleOptions::read(table, o.targets.sampler.value_or(SampleOptions{}));
  if (o.targets.sampler->add_objects)
    table.table("sampler").problem("add_gt_as_proposals",
                                   "must be false: this head scores anchors, and the box of an object is not an "
                                   "anchor; set the key in model.roi_head.sampler instead");
  o.targets.coder = BoxCoderOptions::read(table, o.targets.coder);
  o.targets.allowed_border = table.integer("allowed_border", o.targets.allowed_border, {-1, 100'000});
  o.score_loss_weight = table.table("loss_cls").real("loss_weight", o.score_loss_weight, {0.0, 1e4});
  o.box_loss = BoxLossOptions::read(table, o.box_loss);
  o.train = ProposalLimits::read(table.table("proposals"), o.train);
  o.test = ProposalLimits::read(table.table("test_proposals"), o.test);
  return o;
}

RpnHead::RpnHead(const RpnOptions& options, int64_t inputs) : Cloneable("RPNHead"), options_(options) {
  const auto& o = options_;
  const int64_t anchors = o.targets.anchors.per_cell();
  shared_ = register_module("rpn_conv", std::make_shared<Convolution>(ConvolutionOptions{inputs, o.channels}));
  scores_ = register_module("rpn_cls", std::make_shared<Convolution>(ConvolutionOptions{o.channels, anchors, 1}));
  deltas_ = register_module("rpn_reg", std::make_shared<Convolution>(ConvolutionOptions{o.channels, 4 * anchors, 1}));
  const at::NoGradGuard no_grad;
  for (const auto& part : {shared_, scores_, deltas_}) nn::normal_(part->weight, kRpnDeviation);
}

DenseOutputs RpnHead::forward(const std::vector<at::Tensor>& levels) const {
  const int64_t anchors = options_.targets.anchors.per_cell();
  DenseOutputs out;
  out.maps = sizes_of(levels);
  for (const at::Tensor& level : levels) {
    const at::Tensor map = shared_->forward(level).relu_();
    out.scores.push_back(by_anchor(scores_->forward(map), anchors));
    out.deltas.push_back(by_anchor(deltas_->forward(map), anchors));
  }
  return out;
}

AnchorTargets RpnHead::targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch) const {
  AnchorTargets targets = lay_targets(maps, batch, options_.targets, widened(deltas_->weight.detach()));
  int64_t count = 0;
  for (const DenseSample& sample : targets.samples)
    count += std::max<int64_t>(1, sample.positives.size(0)) + std::max<int64_t>(1, sample.negatives.size(0));
  targets.divisor = static_cast<double>(count);
  return targets;
}

DenseLosses RpnHead::losses(const DenseOutputs& out, const AnchorTargets& of_anchors) const {
  check_targets_fit(of_anchors, out);
  const auto& [maps, anchors, samples, divisor] = of_anchors;
  DenseLosses losses;
  for (size_t level = 0; level < out.maps.size(); ++level) {
    std::vector<at::Tensor> scores, wanted, deltas, targets;
    for (size_t image = 0; image < samples.size(); ++image) {
      const LevelSample one = level_sample(out, samples[image], anchors.counts, level, static_cast<int64_t>(image));
      scores.push_back(one.scores), wanted.push_back(one.wanted);
      deltas.push_back(one.deltas), targets.push_back(one.targets);
    }
    const at::Tensor score_loss =
        at::binary_cross_entropy_with_logits(at::cat(scores), at::cat(wanted), {}, {}, at::Reduction::Sum);
    losses.scores.push_back(score_loss * (options_.score_loss_weight / divisor));
    losses.boxes.push_back(box_loss(at::cat(deltas), at::cat(targets), options_.box_loss) / divisor);
  }
  return losses;
}

std::vector<Proposals> RpnHead::proposals(const DenseOutputs& out, const std::vector<DetectionImage>& sizes,
                                          const ProposalLimits& limits) const {
  const at::NoGradGuard no_grad;
  const LaidAnchors laid = lay_anchors(options_.targets.anchors, out.maps, out.deltas.front());
  const std::vector<at::Tensor> anchors = laid.by_level(laid.boxes);
  const BoxCoder coder(options_.targets.coder);
  std::vector<Proposals> all;
  for (size_t image = 0; image < sizes.size(); ++image) {
    std::vector<at::Tensor> boxes, deltas, scores, groups;
    for (size_t level = 0; level < anchors.size(); ++level) {
      const auto at = static_cast<int64_t>(image);
      const at::Tensor score = out.scores[level][at].squeeze(1).sigmoid();
      const LevelOfImage best =
          LevelOfImage{score, out.deltas[level][at], anchors[level]}.surest(score, limits.per_level);
      groups.push_back(at::full({best.scores.size(0)}, static_cast<int64_t>(level), score.options().dtype(at::kLong)));
      boxes.push_back(best.anchors), deltas.push_back(best.deltas), scores.push_back(best.scores);
    }
    at::Tensor box = coder.decode(at::cat(boxes), at::cat(deltas), sizes[image].resized), score = at::cat(scores),
               group = at::cat(groups);
    if (limits.least_side >= 0) {
      const at::Tensor wide = has_sides_above(box, limits.least_side).nonzero().squeeze(1);
      box = box.index_select(0, wide), score = score.index_select(0, wide), group = group.index_select(0, wide);
    }
    const at::Tensor kept = ops::nms_indices(box, score, group, limits.iou_threshold);
    const at::Tensor best = kept.narrow(0, 0, std::min(limits.most, kept.size(0)));
    all.push_back({box.index_select(0, best), score.index_select(0, best)});
  }
  return all;
}

}  // namespace cachet::models
