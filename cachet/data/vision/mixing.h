#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/config/view.h"

namespace cachet::data {

/// Blending of the images of a training batch with each other, and soft targets.
struct MixingOptions {
  double mixup = 0;                 // α of Beta(α, α) (Zhang et al. 2018); 0 = off
  double cutmix = 0;                // α of Beta(α, α) (Yun et al. 2019); 0 = off
  double probability = 1;           // that a batch is mixed at all
  double switch_probability = 0.5;  // of cutmix, where both are on
  double label_smoothing = 0;       // ε: (1 − ε)·target + ε / classes (Szegedy et al. 2016)

  bool mixes() const { return mixup > 0 || cutmix > 0; }
};

/// Reads mixup, cutmix, probability, switch_probability and label_smoothing.
MixingOptions read_mixing_options(const config::View& view);

struct MixedBatch {
  at::Tensor images;   // (B, C, H, W)
  at::Tensor targets;  // (B, classes) float32, each row sums to 1
};

/// Smoothed one-hot targets (B, classes) float32 of labels (B) int64.
at::Tensor soft_targets(const at::Tensor& labels, int64_t classes, double label_smoothing);

/// Mixes each image with a partner of the same batch. A batch has one λ and one mode, which are functions of (seed,
/// epoch, number). `images` (B, C, H, W) are not changed.
MixedBatch mix_batch(const at::Tensor& images, const at::Tensor& labels, int64_t classes, const MixingOptions& options,
                     uint64_t seed, int64_t epoch, int64_t number);

}  // namespace cachet::data
