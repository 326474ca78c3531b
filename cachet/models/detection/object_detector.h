#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/detection/detection_sample.h"
#include "cachet/models/detection/heads/dense_targets.h"
#include "cachet/models/vision/feature_pyramid.h"

namespace cachet::models {

/// A model that finds objects: a pyramid of maps, and heads that look at all of them.
class ObjectDetector : public virtual ImageModel {
 public:
  /// The training targets of the anchors of a batch whose images are padded to `size`. Reads positions, objects and
  /// priorities, not `batch.images`. Throws c10::Error if objects have other shapes, number or classes than the model
  /// asks for.
  virtual AnchorTargets anchor_targets(const DetectionBatch& batch, const ImageSize& size) const = 0;
  /// Losses by name, as the head's authors call them ("loss_rpn_cls"). Losses of anchors are divided by the divisor of
  /// `targets`, losses of proposals by the batch's own counts. Throws c10::Error if `targets` belong to other images.
  virtual DetectionLosses losses(const DetectionBatch& batch, const AnchorTargets& targets) = 0;
  /// The losses of a batch that is a whole step. Throws what both functions throw.
  DetectionLosses losses(const DetectionBatch& batch);

  /// The names of what losses() gives, losses and measures in their order.
  virtual std::vector<std::string> loss_names() const = 0;

  /// What is on images (B, C, H, W): one Detections an image. In evaluation mode, as box_scores(): throws c10::Error in
  /// training, whose passes draw and change norms and caches.
  virtual std::vector<Detections> detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                         DetectionFrame frame = DetectionFrame::original) = 0;

  /// The scores of boxes that do not depend on the images (B, C, H, W): (boxes of all, classes), without a gradient.
  /// The boxes of a one-stage detector are its anchors.
  virtual at::Tensor box_scores(const at::Tensor& images) = 0;
  /// Whether a softmax makes probabilities of box_scores(), of the classes and the background; else a sigmoid does, of
  /// each class alone.
  virtual bool classes_exclude_each_other() const = 0;

  virtual int64_t classes() const = 0;        // without the background
  virtual bool outlines_objects() const = 0;  // whether it needs masks to train on, and gives them
  virtual FeaturePyramid& backbone() = 0;     // what a classification run can have trained before

 protected:
  /// Synthetic objects on images (B, C, H, W) without padding: eight boxes for each image, about as many as an image of
  /// COCO has, with sides from an eighth to a half of the image's.
  DetectionBatch synthetic_step(const at::Tensor& images) const;
};

struct ObjectDetectorPlan {
  std::string name{};
  ImageShape image{};
  int64_t classes = 0;
  bool masks = false;
  std::function<std::shared_ptr<ObjectDetector>()> build{};

  operator ModelPlan() const { return {name, input_of(image), build}; }
};

}  // namespace cachet::models
