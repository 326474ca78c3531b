#include "cachet/models/detection/heads/dense_targets.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>

#include "cachet/models/detection/boxes/boxes.h"

namespace cachet::models {

at::Tensor by_anchor(const at::Tensor& map, int64_t per_cell) {
  const int64_t numbers = map.size(1) / per_cell;
  return widened(map).permute({0, 2, 3, 1}).reshape({map.size(0), map.size(2) * map.size(3) * per_cell, numbers});
}

std::vector<ImageSize> sizes_of(const std::vector<at::Tensor>& levels) {
  std::vector<ImageSize> sizes;
  for (const at::Tensor& level : levels) sizes.push_back({level.size(2), level.size(3)});
  return sizes;
}

std::vector<DenseSample> dense_samples(const LaidAnchors& anchors, const std::vector<ImageSize>& maps,
                                       const DetectionBatch& batch, const DenseTargetOptions& o) {
  const at::NoGradGuard no_grad;
  const BoxCoder coder(o.coder);
  std::vector<DenseSample> samples;
  for (size_t image = 0; image < batch.targets.size(); ++image) {
    const auto& target = batch.targets[image];
    const auto& place = batch.sizes[image];
    const at::Tensor seen = anchors_of_image(o.anchors, maps, place.padded, anchors.boxes.device()) &
                            anchors_inside(anchors.boxes, place.resized, o.allowed_border);
    const at::Tensor among_all = seen.nonzero().squeeze(1);
    const at::Tensor boxes = anchors.boxes.index_select(0, among_all), objects = target.boxes.to(boxes.options());
    const Assignment assigned = assign(boxes, objects, target.ignored, o.assigner);
    BoxSample taken;
    if (o.sampler) {
      const at::Tensor priority = batch.priorities(SamplingPlace::anchors, image, anchors.boxes.size(0));
      taken = sample(boxes, assigned, objects, priority.to(boxes.device()).index_select(0, among_all), *o.sampler);
    } else {
      taken = sample_all(boxes, assigned, objects);
    }
    samples.push_back({among_all.index_select(0, taken.positives), among_all.index_select(0, taken.negatives),
                       taken.objects, coder.encode(taken.positive_boxes(), taken.object_boxes)});
  }
  return samples;
}

std::vector<ImageSize> level_maps(const std::vector<int64_t>& strides, const ImageSize& images) {
  std::vector<ImageSize> maps;
  for (const int64_t stride : strides)
    maps.push_back({(images.height + stride - 1) / stride, (images.width + stride - 1) / stride});
  return maps;
}

AnchorTargets lay_targets(const std::vector<ImageSize>& maps, const DetectionBatch& batch, const DenseTargetOptions& o,
                          const at::Tensor& like) {
  AnchorTargets targets{.maps = maps, .anchors = lay_anchors(o.anchors, maps, like)};
  targets.samples = dense_samples(targets.anchors, maps, batch, o);
  return targets;
}

void check_targets_fit(const AnchorTargets& targets, const DenseOutputs& out) {
  const auto same = [](const ImageSize& a, const ImageSize& b) { return a.height == b.height && a.width == b.width; };
  TORCH_CHECK(std::ranges::equal(targets.maps, out.maps, same),
              "detector: the anchors are for maps of other sizes than the model's maps; along each side of the image, "
              "the map of a stage of stride s must have ceil(side / s) cells");
  const int64_t images = out.scores.front().size(0);
  TORCH_CHECK(std::ssize(targets.samples) == images, "detector: there must be targets for each of the ", images,
              " images, got targets for ", targets.samples.size(), " images");
}

LevelOfImage LevelOfImage::surest(const at::Tensor& sureness, int64_t most) const {
  if (most < 1 || sureness.size(0) <= most) return *this;
  const at::Tensor best =
      std::get<1>(at::sort(sureness, /*stable=*/std::optional<bool>(true), 0, /*descending=*/true)).narrow(0, 0, most);
  return {scores.index_select(0, best), deltas.index_select(0, best), anchors.index_select(0, best)};
}

InLevel in_level(const at::Tensor& indices, const std::vector<int64_t>& counts, size_t level) {
  int64_t first = 0;
  for (size_t i = 0; i < level; ++i) first += counts[i];
  const at::Tensor which = ((indices >= first) & (indices < first + counts[level])).nonzero().squeeze(1);
  return {indices.index_select(0, which) - first, which};
}

}  // namespace cachet::models
