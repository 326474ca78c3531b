#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "cachet/models/detection/boxes/anchors.h"
#include "cachet/tasks/detection/detection.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kImages = 16;
constexpr int64_t kMaxBoxes = 1000;  // of an image: RetinaNet has 200,000 anchors

/// A row for each class of each box: that the class is there, and that it is not.
at::Tensor choices_of(const at::Tensor& scores) {
  const at::Tensor all = scores.flatten();
  return at::stack({all, at::zeros_like(all)}, 1);
}

}  // namespace

ComparedScores Detection::compared_scores() {
  const int64_t images = validation_ ? std::min(kImages, validation_->size()) : kImages;
  at::Generator random = at::detail::createCPUGenerator(0);
  std::vector<at::Tensor> scores;
  for (int64_t i = 0; i < images; ++i) {
    at::Tensor image;
    if (validation_) {
      image = shown(validation_->pixels(i)).images;
    } else {
      const models::ImageShape shape = model_->image_shape();
      image = at::randn({1, shape.channels, shape.height, shape.width}, random);
    }
    train::move_to(train::device_of(*model_), {&image});
    scores.push_back(models::evenly(model_->box_scores(image), kMaxBoxes).to(at::kCPU, at::kFloat));
  }
  const at::Tensor compared = at::cat(scores);
  const bool one_class = model_->classes_exclude_each_other();
  return {
      one_class ? compared : choices_of(compared),
      compared_samples(std::to_string(compared.size(0)) + " boxes on ", images, sample_words(), validation_ != nullptr),
      one_class ? deploy::DecisionWords{.many = "boxes"}
                : deploy::DecisionWords{"yes or no", "scores of boxes and classes"}};
}

}  // namespace cachet::tasks
