#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "cachet/models/detection/detection_sample.h"
#include "cachet/models/detection/heads/dense_targets.h"

namespace cachet::models {

/// Throws c10::Error, which names the image, unless each image has a target, boxes (n, 4) with an area, and n labels
/// from 0 to classes − 1. If `draws` is true (samples are drawn at random), the batch must also have priorities.
void check_detection_targets(const DetectionBatch& batch, int64_t classes, bool draws);

/// Throws c10::Error, which names the image, if an image has no DetectionImage that fits into the batch.
void check_detection_images(const at::Tensor& images, const std::vector<DetectionImage>& sizes);

/// Throws ops::NotFinite unless the scores and offsets of boxes are finite. A NaN score is not above any threshold, so
/// an image with NaN scores would seem to have no objects.
void check_dense_scores(const DenseOutputs& outputs);

/// Throws c10::Error if the detector is in training mode.
void check_evaluates(const torch::nn::Module& detector);

}  // namespace cachet::models
