#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "cachet/models/detection/detection_sample.h"
#include "cachet/models/detection/heads/dense_targets.h"

namespace cachet::models {

/// Throws c10::Error that names the image unless a batch has a target for each position, boxes (n, 4) of some area and
/// n labels from 0 to classes − 1, and priorities where a detector draws.
void check_detection_targets(const DetectionBatch& batch, int64_t classes, bool draws);

/// Throws c10::Error that names the image unless there is a position for each image, which fits into the batch.
void check_detection_images(const at::Tensor& images, const std::vector<DetectionImage>& sizes);

/// Throws ops::NotFinite unless scores and offsets of boxes are finite: no box is above a threshold of scores that are
/// NaN, and an image would seem empty.
void check_dense_scores(const DenseOutputs& outputs);

/// Throws c10::Error for a detector in training mode.
void check_evaluates(const torch::nn::Module& detector);

}  // namespace cachet::models
