#include "cachet/tasks/detection/detection_stream.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cachet/geometry/mask_transforms.h"
#include "cachet/models/detection/mask_targets.h"
#include "cachet/models/detection/sampling.h"
#include "cachet/nn/regularizer.h"
#include "cachet/train/device.h"

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

models::DetectionTarget target_of(const data::DetectionObjects& objects, bool masks, const at::Tensor& images) {
  models::DetectionTarget target;
  target.boxes = box_tensor(objects.boxes).to(images.device());
  target.labels = at::tensor(objects.labels, at::kLong).to(images.device());
  if (!objects.crowds.empty()) target.ignored = box_tensor(objects.crowds).to(images.device());
  if (masks)
    target.masks =
        models::bitmap_mask_targets(bitmaps_of(objects.masks, images.size(2), images.size(3)).to(images.device()));
  return target;
}

class DetectionStream : public train::TrainingStream {
 public:
  DetectionStream(models::ObjectDetector& model, data::BatchStream<data::DetectionBatch> batches, int64_t multiple,
                  uint64_t seed, int64_t first_step)
      : model_(model), batches_(std::move(batches)), multiple_(multiple), seed_(seed), first_step_(first_step) {}

  bool fetch() override {
    batch_ = batches_.next();
    if (batch_) train::move_to(train::device_of(model_), {&batch_->images});
    return batch_.has_value();
  }

  train::StepResult forward() override {
    if (batch_->samples.empty()) return without_images();
    models::DetectionBatch batch;
    batch.images = batch_->images;
    std::vector<uint64_t> numbers;
    for (const data::DetectionSample& sample : batch_->samples) {
      batch.places.push_back(place_of(sample, multiple_));
      batch.targets.push_back(target_of(sample.objects, model_.outlines_objects(), batch.images));
      numbers.push_back(static_cast<uint64_t>(sample.index));
    }
    batch.priorities =
        models::counted_priorities(seed_, static_cast<uint64_t>(first_step_ + batch_->number), std::move(numbers));
    const models::DetectionLosses losses = model_.losses(batch);
    train::StepResult result;
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
  // All images of the batch were skipped: a step of weight 0.
  train::StepResult without_images() {
    train::StepResult result;
    result.loss = at::zeros({}, batch_->images.options()).requires_grad_(true) * 0;
    return result;
  }

  models::ObjectDetector& model_;
  data::BatchStream<data::DetectionBatch> batches_;
  int64_t multiple_;
  uint64_t seed_;
  int64_t first_step_;
  std::optional<data::DetectionBatch> batch_;
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

std::unique_ptr<train::TrainingStream> detection_stream(models::ObjectDetector& model,
                                                        data::BatchStream<data::DetectionBatch> batches,
                                                        int64_t multiple, uint64_t seed, int64_t first_step) {
  return std::make_unique<DetectionStream>(model, std::move(batches), multiple, seed, first_step);
}

}  // namespace cachet::tasks
