#include "cachet/data/vision/augmentation/mixing.h"

#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cachet/data/random.h"

namespace cachet::data {
namespace {

// A box of the area (1 − share) before it is clipped at the border; `share` becomes what of the own image is left.
void draw_box(int64_t height, int64_t width, Mixing& mixing, CounterRandom& random) {
  const double scale = std::sqrt(1 - mixing.own_weight);
  const auto draw_side = [&](int64_t length) -> Mixing::Side {
    const auto box = static_cast<int64_t>(static_cast<double>(length) * scale);
    const auto centre = static_cast<int64_t>(random.below(static_cast<uint64_t>(length)));
    const int64_t first = std::clamp<int64_t>(centre - box / 2, 0, length);
    return {first, std::clamp<int64_t>(centre - box / 2 + box, 0, length) - first};
  };
  mixing.rows = draw_side(height);
  mixing.columns = draw_side(width);
  mixing.own_weight =
      1 - static_cast<double>(mixing.rows.length * mixing.columns.length) / static_cast<double>(height * width);
}

at::Tensor box_of(const at::Tensor& images, const Mixing& mixing) {
  return images.narrow(2, mixing.rows.first, mixing.rows.length).narrow(3, mixing.columns.first, mixing.columns.length);
}

}  // namespace

MixingOptions read_mixing_options(const config::View& view) {
  MixingOptions options;
  options.mixup = view.real("mixup", options.mixup, {0, 100});
  options.cutmix = view.real("cutmix", options.cutmix, {0, 100});
  options.probability = view.real("probability", options.probability, {0, 1});
  options.switch_probability = view.real("switch_probability", options.switch_probability, {0, 1});
  options.label_smoothing = view.real("label_smoothing", options.label_smoothing, {0, 0.999});
  return options;
}

at::Tensor soft_targets(const at::Tensor& labels, int64_t classes, double label_smoothing) {
  at::Tensor targets = at::full({labels.size(0), classes}, label_smoothing / static_cast<double>(classes),
                                labels.options().dtype(at::kFloat));
  const double on = 1 - label_smoothing + label_smoothing / static_cast<double>(classes);
  return targets.scatter_(1, labels.unsqueeze(1), on);
}

std::optional<Mixing> draw_mixing(int64_t count, int64_t height, int64_t width, const MixingOptions& options,
                                  uint64_t seed, int64_t epoch, int64_t number) {
  const auto stream = [&](RandomStream name) {
    return CounterRandom(seed, name, static_cast<uint64_t>(epoch), static_cast<uint64_t>(number));
  };
  CounterRandom random = stream(RandomStream::mixing);
  if (!options.mixes() || !random.chance(options.probability)) return std::nullopt;

  Mixing mixing;
  const bool both = options.mixup > 0 && options.cutmix > 0;
  mixing.cut = both ? random.chance(options.switch_probability) : options.cutmix > 0;
  const double alpha = mixing.cut ? options.cutmix : options.mixup;
  mixing.own_weight = random.beta(alpha, alpha);
  if (mixing.cut) draw_box(height, width, mixing, random);
  mixing.partners = permutation(count, stream(RandomStream::partners));
  return mixing;
}

MixedBatch mix(const MixedBatch& own, const MixedBatch& partners, const Mixing& mixing) {
  MixedBatch mixed;
  mixed.targets = at::lerp(partners.targets, own.targets, mixing.own_weight);
  if (mixing.cut) {
    mixed.images = own.images.clone();
    box_of(mixed.images, mixing).copy_(box_of(partners.images, mixing));
  } else {
    mixed.images = at::lerp(partners.images, own.images, mixing.own_weight);
  }
  return mixed;
}

MixedBatch mix_batch(const at::Tensor& images, const at::Tensor& labels, int64_t classes, const MixingOptions& options,
                     uint64_t seed, int64_t epoch, int64_t number) {
  const MixedBatch own{images, soft_targets(labels, classes, options.label_smoothing)};
  const auto mixing = draw_mixing(images.size(0), images.size(2), images.size(3), options, seed, epoch, number);
  if (!mixing) return own;
  // A copy from pinned memory does not wait for earlier work of the GPU.
  at::Tensor partners = at::tensor(mixing->partners, at::kLong);
  if (images.is_cuda()) partners = partners.pin_memory();
  partners = partners.to(images.device(), /*non_blocking=*/!images.is_cpu());
  return mix(own, {images.index_select(0, partners), own.targets.index_select(0, partners)}, *mixing);
}

}  // namespace cachet::data
