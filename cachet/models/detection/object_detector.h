#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cachet/models/detection/detection_sample.h"
#include "cachet/models/detection/heads/dense_targets.h"
#include "cachet/models/vision/feature_pyramid.h"

namespace cachet::models {

/// A model that detects objects: a pyramid of feature maps, and heads that examine all maps.
class ObjectDetector : public virtual ImageModel {
 public:
  /// Returns the training targets of the anchors of a batch whose images are padded to `size`. Reads `sizes`, `targets`
  /// and `priorities` of the batch, but not `images`. Throws c10::Error if shapes, number or classes of the objects do
  /// not fit the model.
  virtual AnchorTargets anchor_targets(const DetectionBatch& batch, const ImageSize& size) const = 0;
  /// Returns the losses under their published names ("loss_rpn_cls"). Divides losses of anchors by `targets.divisor`,
  /// and losses of proposals by the batch's numbers of samples. Throws c10::Error if `targets` were computed for images
  /// other than those of `batch`.
  virtual DetectionLosses losses(const DetectionBatch& batch, const AnchorTargets& targets) = 0;
  /// Returns the losses of a batch that is a whole training step. Throws the errors of anchor_targets() and losses().
  DetectionLosses losses(const DetectionBatch& batch);

  /// Returns the names of the values that losses() returns: the names of `losses`, then those of `measures`, in order.
  virtual std::vector<std::string> loss_names() const = 0;

  /// Returns the detections on images (B, C, H, W), one Detections for each image. In training mode, detect() and
  /// box_scores() throw c10::Error, because passes in this mode draw random numbers and change norms and caches.
  virtual std::vector<Detections> detect(const at::Tensor& images, const std::vector<DetectionImage>& sizes,
                                         DetectionFrame frame = DetectionFrame::original) = 0;

  /// Returns class scores (boxes of all images, classes), without a gradient. The boxes do not depend on the images (B,
  /// C, H, W). The boxes of a one-stage detector are its anchors.
  virtual at::Tensor box_scores(const at::Tensor& images) = 0;
  /// Whether box_scores() are logits of a softmax over the classes and the background. If the classes do not exclude
  /// each other, box_scores() are logits of one sigmoid for each class.
  virtual bool classes_exclude_each_other() const = 0;

  virtual int64_t classes() const = 0;        // number of classes, without the background
  virtual bool outlines_objects() const = 0;  // whether the model trains on masks and returns masks
  virtual FeaturePyramid& backbone() = 0;     // the backbone, which can be pretrained in a classification run

 protected:
  /// Returns synthetic objects on images (B, C, H, W) without padding. Each image has eight boxes (about COCO's mean),
  /// with sides from an eighth to a half of the sides of the image.
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
