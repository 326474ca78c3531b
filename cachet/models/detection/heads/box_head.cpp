#include "cachet/models/detection/heads/box_head.h"

#include <ATen/ATen.h>
#include <torch/nn/modules/container/modulelist.h>

#include "cachet/models/detection/boxes/boxes.h"
#include "cachet/nn/base/initialization.h"

namespace cachet::models {
namespace {

constexpr double kClassDeviation = 0.01, kBoxDeviation = 0.001;  // of the normal distributions that weights start from

}  // namespace

BoxHeadOptions BoxHeadOptions::read(const config::View& parent, BoxHeadOptions o) {
  const config::View table = parent.table("bbox_head");
  o.channels = table.integer("fc_out_channels", o.channels, {1, 1 << 16});
  o.one_box_for_all = table.boolean("reg_class_agnostic", o.one_box_for_all);
  o.coder = BoxCoderOptions::read(table, o.coder);
  o.class_loss_weight = table.table("loss_cls").real("loss_weight", o.class_loss_weight, {0.0, 1e4});
  o.box_loss = BoxLossOptions::read(table, o.box_loss);
  return o;
}

BoxTargets box_targets(const std::vector<BoxSample>& samples, const std::vector<at::Tensor>& labels,
                       const BoxHeadOptions& o) {
  const at::NoGradGuard no_grad;
  const BoxCoder coder(o.coder);
  std::vector<at::Tensor> classes, positives, deltas;
  int64_t first = 0;
  for (size_t image = 0; image < samples.size(); ++image) {
    const BoxSample& sample = samples[image];
    classes.push_back(labels[image].to(sample.objects.device()).index_select(0, sample.objects));
    classes.push_back(at::full({sample.negatives.size(0)}, o.classes, sample.negatives.options()));
    positives.push_back(at::arange(first, first + sample.positive_count(), sample.positives.options()));
    deltas.push_back(coder.encode(sample.positive_boxes(), sample.object_boxes));
    first += sample.boxes.size(0);
  }
  return {at::cat(classes), at::cat(positives), at::cat(deltas)};
}

BoxHead::BoxHead(const BoxHeadOptions& options, int64_t inputs) : Cloneable("BoxHead"), options_(options) {
  const auto& o = options_;
  const at::NoGradGuard no_grad;
  const auto shared = register_module("shared_fcs", torch::nn::ModuleList());
  for (const int64_t width : {inputs, o.channels}) {
    shared_.push_back(std::make_shared<nn::Linear>(width, o.channels));
    shared->push_back(shared_.back());
    nn::xavier_uniform_(shared_.back()->weight);
  }
  classes_ = register_module("fc_cls", std::make_shared<nn::Linear>(o.channels, o.classes + 1));
  boxes_ = register_module("fc_reg", std::make_shared<nn::Linear>(o.channels, o.one_box_for_all ? 4 : 4 * o.classes));
  nn::normal_(classes_->weight, kClassDeviation);
  nn::normal_(boxes_->weight, kBoxDeviation);
}

BoxOutputs BoxHead::forward(const at::Tensor& regions) const {
  at::Tensor x = regions.flatten(1);
  for (const auto& layer : shared_) x = layer->forward(x).relu();
  return {widened(classes_->forward(x)), widened(boxes_->forward(x))};
}

BoxHeadLosses BoxHead::losses(const BoxOutputs& out, const BoxTargets& targets) const {
  const int64_t count = std::max<int64_t>(1, targets.labels.size(0));
  const at::Tensor entropy = at::cross_entropy_loss(out.scores, targets.labels, {}, at::Reduction::Sum);
  const at::Tensor right = (out.scores.detach().argmax(1) == targets.labels).sum();
  at::Tensor deltas = out.deltas.index_select(0, targets.positives);
  if (!options_.one_box_for_all) {
    const at::Tensor classes = targets.labels.index_select(0, targets.positives).view({-1, 1, 1}).expand({-1, 1, 4});
    deltas = deltas.view({deltas.size(0), options_.classes, 4}).gather(1, classes).squeeze(1);
  }
  return {entropy * (options_.class_loss_weight / static_cast<double>(count)),
          box_loss(deltas, targets.deltas, options_.box_loss) / count,
          right.to(out.scores.scalar_type()) * (100.0 / static_cast<double>(count))};
}

std::pair<at::Tensor, at::Tensor> BoxHead::decode(const at::Tensor& boxes, const BoxOutputs& out,
                                                  const DetectionImage& place, DetectionFrame frame) const {
  at::Tensor decoded = BoxCoder(options_.coder).decode(boxes, out.deltas, place.resized);
  if (frame == DetectionFrame::original) decoded = in_original(decoded.unflatten(1, {-1, 4}), place).flatten(1);
  return {decoded, out.scores.softmax(1)};
}

}  // namespace cachet::models
