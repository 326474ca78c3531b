#include "cachet/tasks/detection/detection_training_batches.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "cachet/geometry/mask_transforms.h"
#include "cachet/models/detection/boxes/box_sampling.h"
#include "cachet/models/detection/heads/mask_targets.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

using geometry::RunLengths;

at::Tensor box_tensor(const std::vector<geometry::Box>& boxes) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(boxes.size()), 4}, at::kFloat);
  auto* number = tensor.mutable_data_ptr<float>();
  for (const geometry::Box& box : boxes) {
    for (const double side : {box.left, box.top, box.right, box.bottom}) *number++ = static_cast<float>(side);
  }
  return tensor;
}

// (n, height, width) of the padded batch.
at::Tensor bitmaps_of(const std::vector<RunLengths>& masks, int64_t height, int64_t width) {
  at::Tensor bitmaps = at::zeros({static_cast<int64_t>(masks.size()), height, width}, at::kByte);
  for (size_t i = 0; i < masks.size(); ++i) {
    const auto bitmap = windowed(masks[i], 0, 0, {height, width}).bitmap();
    std::copy(bitmap.begin(), bitmap.end(), bitmaps[static_cast<int64_t>(i)].mutable_data_ptr<uint8_t>());
  }
  return bitmaps;
}

models::DetectionTarget target_of(const data::DetectionObjects& objects, at::Device device) {
  models::DetectionTarget target;
  target.boxes = box_tensor(objects.boxes).to(device);
  target.labels = at::tensor(objects.labels, at::kLong).to(device);
  if (!objects.crowds.empty()) target.ignored = box_tensor(objects.crowds).to(device);
  return target;
}

/// A fetched batch, and the targets of its anchors after they were found.
struct MicroBatch {
  data::DetectionBatch loaded;
  models::DetectionBatch batch{};  // without images and masks until its forward pass
  std::optional<models::AnchorTargets> anchors{};
  bool empty_everywhere = false;  // no process has an image of it

  int64_t images() const { return std::ssize(loaded.samples); }
};

class DetectionTrainingBatches : public train::TrainingBatches {
 public:
  DetectionTrainingBatches(models::ObjectDetector& model, data::BatchIterator<data::DetectionBatch> batches,
                           const DetectionTrainingBatchesOptions& options)
      : model_(model), batches_(std::move(batches)), options_(options) {}

  bool fetch_step(int64_t micro_batches) override {
    while (std::ssize(ahead_) < micro_batches) {
      auto loaded = batches_.next();
      if (!loaded) return false;
      ahead_.push_back({*std::move(loaded)});
    }
    return true;
  }

  void count_step(const train::SumOverProcesses& sum) override {
    std::vector<double> counts;  // images of each micro-batch, then the divisor of the losses of all anchors
    double divisor = 0;
    for (MicroBatch& one : ahead_) {
      counts.push_back(static_cast<double>(one.images()));
      if (one.images() == 0 || options_.divisor == LossDivisor::part) continue;
      find_targets(one);
      divisor += one.anchors->divisor;
    }
    counts.push_back(divisor);
    sum(counts);
    divisor = counts.back();
    counts.pop_back();
    const double images = std::accumulate(counts.begin(), counts.end(), 0.0);
    for (size_t i = 0; i < ahead_.size(); ++i) {
      MicroBatch& one = ahead_[i];
      one.empty_everywhere = counts[i] == 0;
      // The trainer averages the parts by their images. So a part with n of the step's N images gets n/N of the
      // divisor.
      if (one.anchors) one.anchors->divisor = divisor * static_cast<double>(one.images()) / images;
    }
  }

  bool fetch() override {
    if (ahead_.empty() && !fetch_step(1)) return false;
    now_ = std::move(ahead_.front());
    ahead_.pop_front();
    return true;
  }

  bool has_samples() const override { return now_.images() > 0; }

  void prepare() override {
    train::move_to(train::device_of(model_), {&now_.loaded.images});
    if (now_.images() == 0) return;
    if (!now_.anchors) find_targets(now_);
    now_.batch.images = now_.loaded.images;
    if (model_.outlines_objects()) add_masks(now_.batch);
  }

  train::ForwardResult forward() override {
    if (now_.images() == 0) return without_images();
    const models::DetectionBatch& batch = now_.batch;
    const models::DetectionLosses losses = model_.losses(batch, *now_.anchors);
    train::ForwardResult result;
    result.samples = batch.images.size(0);
    result.weight = static_cast<double>(result.samples);
    result.loss = losses.sum() * result.weight;
    result.penalty = nn::total_penalty(model_);
    for (const auto* values : {&losses.losses, &losses.measures}) {
      for (const models::NamedValue& value : *values)
        result.metrics.push_back({value.name, value.value.detach() * result.weight, result.weight});
    }
    return result;
  }

 private:
  void find_targets(MicroBatch& one) const {
    const at::Device device = train::device_of(model_);
    std::vector<uint64_t> numbers;
    for (const data::DetectionSample& sample : one.loaded.samples) {
      one.batch.sizes.push_back(place_of(sample, options_.multiple));
      one.batch.targets.push_back(target_of(sample.objects, device));
      numbers.push_back(static_cast<uint64_t>(sample.index));
    }
    const auto batch = static_cast<uint64_t>(options_.first_batch + one.loaded.number);
    one.batch.priorities = models::counted_priorities(options_.seed, batch, std::move(numbers));
    one.anchors = model_.anchor_targets(one.batch, {one.loaded.images.size(2), one.loaded.images.size(3)});
  }

  void add_masks(models::DetectionBatch& batch) const {
    const at::Tensor& images = batch.images;
    for (size_t i = 0; i < batch.targets.size(); ++i) {
      const at::Tensor bitmaps = bitmaps_of(now_.loaded.samples[i].objects.masks, images.size(2), images.size(3));
      batch.targets[i].masks = models::bitmap_mask_targets(bitmaps.to(images.device()));
    }
  }

  // All images of the batch were skipped: a step of weight 0. If other processes have images of it, this process takes
  // part in what the backbone sums over the batch, forward and backward. All processes have the same metrics.
  train::ForwardResult without_images() const {
    const at::Tensor& images = now_.loaded.images;
    train::ForwardResult result;
    result.loss = at::zeros({}, images.options()).requires_grad_(true) * 0;
    result.penalty = nn::total_penalty(model_);
    for (const std::string& name : model_.loss_names())
      result.metrics.push_back({name, at::zeros({}, images.options()), /*count=*/0});
    if (!options_.joint || now_.empty_everywhere) return result;
    const models::ImageShape shape = model_.image_shape();
    const at::Tensor none = images.new_zeros({0, shape.channels, shape.height, shape.width});
    for (const at::Tensor& map : model_.backbone().features(none)) result.loss = result.loss + map.sum();
    return result;
  }

  models::ObjectDetector& model_;
  data::BatchIterator<data::DetectionBatch> batches_;
  DetectionTrainingBatchesOptions options_;
  std::deque<MicroBatch> ahead_;  // fetched, and not yet gone through
  MicroBatch now_;
};

}  // namespace

models::DetectionImage place_of(const data::DetectionSample& sample, int64_t multiple) {
  models::DetectionImage place;
  place.original = {sample.original.height, sample.original.width};
  place.resized = {sample.resized.height, sample.resized.width};
  place.padded = {data::padded_side(sample.resized.height, multiple),
                  data::padded_side(sample.resized.width, multiple)};
  place.scale = {sample.scale[0], sample.scale[1], sample.scale[0], sample.scale[1]};
  return place;
}

std::unique_ptr<train::TrainingBatches> detection_batches(models::ObjectDetector& model,
                                                          data::BatchIterator<data::DetectionBatch> batches,
                                                          const DetectionTrainingBatchesOptions& options) {
  return std::make_unique<DetectionTrainingBatches>(model, std::move(batches), options);
}

}  // namespace cachet::tasks
