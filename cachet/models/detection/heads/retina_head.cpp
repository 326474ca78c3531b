#include "cachet/models/detection/heads/retina_head.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

#include <cmath>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::models {
namespace {

constexpr double kRetinaDeviation = 0.01;
// Probability of an object at the start: without it the many anchors of the background drown the others
// (Sec. 3.3 of the paper).
constexpr double kPrior = 0.01;

}  // namespace

RetinaHeadOptions RetinaHeadOptions::read(const config::View& parent, RetinaHeadOptions o) {
  const config::View table = parent.table("bbox_head"), test = parent.table("test");
  o.channels = table.integer("feat_channels", o.channels, {1, 1 << 14});
  o.convolutions = table.integer("stacked_convs", o.convolutions, {0, 64});
  o.targets.anchors = AnchorOptions::read(table, o.targets.anchors);
  o.targets.assigner = AssignmentOptions::read(table, o.targets.assigner);
  o.targets.coder = BoxCoderOptions::read(table, o.targets.coder);
  o.targets.allowed_border = table.integer("allowed_border", o.targets.allowed_border, {-1, 100'000});
  o.class_loss = FocalLossOptions::read(table, o.class_loss);
  o.box_loss = BoxLossOptions::read(table, o.box_loss);
  o.per_level = test.integer("nms_pre", o.per_level, {-1, 1'000'000});
  o.limits = DetectionLimits::read(test, o.limits);
  return o;
}

RetinaHead::RetinaHead(const RetinaHeadOptions& options, int64_t inputs) : Cloneable("RetinaHead"), options_(options) {
  const auto& o = options_;
  const at::NoGradGuard no_grad;
  const auto stack = [&](const char* name, std::vector<nn::Submodule<NamedConvolution>>& convolutions) {
    const auto list = register_module(name, torch::nn::ModuleList());
    for (int64_t i = 0; i < o.convolutions; ++i) {
      convolutions.push_back(
          std::make_shared<NamedConvolution>(ConvolutionOptions{i == 0 ? inputs : o.channels, o.channels}));
      list->push_back(convolutions.back());
      nn::normal_(convolutions.back()->conv->weight, kRetinaDeviation);
    }
  };
  stack("cls_convs", before_classes_);
  stack("reg_convs", before_boxes_);
  const int64_t anchors = o.targets.anchors.per_cell(), width = o.convolutions > 0 ? o.channels : inputs;
  classes_ =
      register_module("retina_cls", std::make_shared<Convolution>(ConvolutionOptions{width, anchors * o.classes}));
  boxes_ = register_module("retina_reg", std::make_shared<Convolution>(ConvolutionOptions{width, anchors * 4}));
  nn::normal_(classes_->weight, kRetinaDeviation);
  nn::normal_(boxes_->weight, kRetinaDeviation);
  classes_->bias.fill_(-std::log((1 - kPrior) / kPrior));
}

DenseOutputs RetinaHead::forward(const std::vector<at::Tensor>& levels) const {
  const int64_t anchors = options_.targets.anchors.per_cell();
  DenseOutputs out;
  out.maps = sizes_of(levels);
  for (const at::Tensor& level : levels) {
    at::Tensor for_classes = level, for_boxes = level;
    for (const auto& convolution : before_classes_) for_classes = convolution->forward(for_classes).relu();
    for (const auto& convolution : before_boxes_) for_boxes = convolution->forward(for_boxes).relu();
    out.scores.push_back(by_anchor(classes_->forward(for_classes), anchors));
    out.deltas.push_back(by_anchor(boxes_->forward(for_boxes), anchors));
  }
  return out;
}

AnchorTargets RetinaHead::targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch) const {
  AnchorTargets targets = lay_targets(maps, batch, options_.targets, widened(boxes_->weight.detach()));
  int64_t count = 0;
  for (const DenseSample& sample : targets.samples) count += std::max<int64_t>(1, sample.positives.size(0));
  targets.divisor = static_cast<double>(count);
  return targets;
}

DenseLosses RetinaHead::losses(const DenseOutputs& out, const DetectionBatch& batch,
                               const AnchorTargets& of_anchors) const {
  check_targets_fit(of_anchors, out);
  const auto& [maps, anchors, samples, divisor] = of_anchors;
  DenseLosses losses;
  for (size_t level = 0; level < out.maps.size(); ++level) {
    std::vector<at::Tensor> scores, labels, deltas, targets;
    for (size_t image = 0; image < samples.size(); ++image) {
      const auto at = static_cast<int64_t>(image);
      const InLevel positives = in_level(samples[image].positives, anchors.counts, level);
      const InLevel negatives = in_level(samples[image].negatives, anchors.counts, level);
      scores.push_back(out.scores[level][at].index_select(0, at::cat({positives.indices, negatives.indices})));
      const at::Tensor objects = samples[image].objects.index_select(0, positives.which);
      labels.push_back(batch.targets[image].labels.to(objects.device()).index_select(0, objects));
      labels.push_back(at::full({negatives.indices.size(0)}, options_.classes, objects.options()));
      deltas.push_back(out.deltas[level][at].index_select(0, positives.indices));
      targets.push_back(samples[image].deltas.index_select(0, positives.which));
    }
    losses.scores.push_back(focal_loss(at::cat(scores), at::cat(labels), options_.class_loss) / divisor);
    losses.boxes.push_back(box_loss(at::cat(deltas), at::cat(targets), options_.box_loss) / divisor);
  }
  return losses;
}

std::vector<Detections> RetinaHead::detections(const DenseOutputs& out, const std::vector<DetectionImage>& sizes,
                                               DetectionFrame frame) const {
  const at::NoGradGuard no_grad;
  const LaidAnchors laid = lay_anchors(options_.targets.anchors, out.maps, out.deltas.front());
  const std::vector<at::Tensor> anchors = laid.by_level(laid.boxes);
  const BoxCoder coder(options_.targets.coder);
  std::vector<Detections> all;
  for (size_t image = 0; image < sizes.size(); ++image) {
    std::vector<at::Tensor> boxes, scores;
    for (size_t level = 0; level < anchors.size(); ++level) {
      const auto at = static_cast<int64_t>(image);
      const at::Tensor score = out.scores[level][at].sigmoid();
      const LevelOfImage best =
          LevelOfImage{score, out.deltas[level][at], anchors[level]}.surest(score.amax(1), options_.per_level);
      boxes.push_back(coder.decode(best.anchors, best.deltas, sizes[image].resized));
      scores.push_back(best.scores);
    }
    at::Tensor box = at::cat(boxes);
    if (frame == DetectionFrame::original) box = in_original(box, sizes[image]);
    const at::Tensor score = at::constant_pad_nd(at::cat(scores), {0, 1});  // the background's
    all.push_back(multiclass_nms(box, score, options_.limits));
  }
  return all;
}

}  // namespace cachet::models
