#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "cachet/models/detection/detection_sample.h"
#include "cachet/models/detection/heads/dense_targets.h"

namespace cachet::models {

/// Throws c10::Error, which names the image, if an image has no target, boxes that are not (n, 4) or have no
/// area, or labels that are not n numbers from 0 to classes − 1; also if `draws` is set and there are no priorities.
void check_detection_targets(const DetectionBatch& batch, int64_t classes, bool draws);

/// Throws c10::Error, which names the image, if an image has no DetectionImage that fits into the batch.
void check_detection_images(const at::Tensor& images, const std::vector<DetectionImage>& sizes);

/// Throws ops::NotFinite unless the scores and offsets of boxes are finite. NaN scores are above no threshold, so an
/// image with such scores would seem empty.
void check_dense_scores(const DenseOutputs& outputs);

/// Throws c10::Error if the detector is in training mode.
void check_evaluates(const torch::nn::Module& detector);

}  // namespace cachet::models
