#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/config/view.h"

namespace cachet::data {

/// Options for blending the images of a training batch with each other, and for smoothing the targets.
struct MixingOptions {
  double mixup = 0;                 // α of Beta(α, α) (Zhang et al. 2018); 0 = off
  double cutmix = 0;                // α of Beta(α, α) (Yun et al. 2019); 0 = off
  double probability = 1;           // probability of mixing a batch
  double switch_probability = 0.5;  // probability of cutmix, if both are on
  double label_smoothing = 0;       // ε: (1 − ε)·target + ε / classes (Szegedy et al. 2016)

  bool mixes() const { return mixup > 0 || cutmix > 0; }
};

/// Reads the keys mixup, cutmix, probability, switch_probability and label_smoothing.
MixingOptions read_mixing_options(const config::View& view);

struct MixedBatch {
  at::Tensor images;   // (B, C, H, W)
  at::Tensor targets;  // (B, classes) float32, each row sums to 1
};

/// Returns smoothed one-hot targets (B, classes) float32 for labels (B) int64.
at::Tensor soft_targets(const at::Tensor& labels, int64_t classes, double label_smoothing);

/// The mixing of a batch: all images have the same mixing weight and the same mode (mixup or cutmix).
struct Mixing {
  struct Side {
    int64_t first = 0, length = 0;
  };
  std::vector<int64_t> partners{};  // index in the batch of each image's partner
  double own_weight = 1;            // weight of an image's own target, 0 … 1
  bool cut = false;                 // whether a box of the partner covers the image; else both are blended
  Side rows{}, columns{};           // rows and columns of the box, in pixels
};

/// Chooses at random how the images of a batch are mixed: `count` images of height × width pixels. How the images are
/// mixed depends only on the seed, the epoch and the number of the batch. Returns std::nullopt if the batch stays
/// unmixed.
std::optional<Mixing> draw_mixing(int64_t count, int64_t height, int64_t width, const MixingOptions& options,
                                  uint64_t seed, int64_t epoch, int64_t number);

/// Mixes each image and target of `own` with the image and target of `partners` at the same index. Returns a new batch.
MixedBatch mix(const MixedBatch& own, const MixedBatch& partners, const Mixing& mixing);

/// Mixes each image with a partner of the same batch. draw_mixing() chooses the partners at random. The function does
/// not change `images` (B, C, H, W).
MixedBatch mix_batch(const at::Tensor& images, const at::Tensor& labels, int64_t classes, const MixingOptions& options,
                     uint64_t seed, int64_t epoch, int64_t number);

}  // namespace cachet::data
