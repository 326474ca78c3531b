#include "cachet/data/vision/mixing.h"

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

// Pastes a box of the partners' images, of the area (1 − share) before it is clipped at the border; returns the share
// of the own image that is left.
double paste_box(at::Tensor& images, const at::Tensor& partners, double share, CounterRandom& random) {
  struct Side {
    int64_t first, length;
  };
  const double scale = std::sqrt(1 - share);
  const auto draw_side = [&](int64_t length) -> Side {
    const auto box = static_cast<int64_t>(static_cast<double>(length) * scale);
    const auto centre = static_cast<int64_t>(random.below(static_cast<uint64_t>(length)));
    const int64_t first = std::clamp<int64_t>(centre - box / 2, 0, length);
    return {first, std::clamp<int64_t>(centre - box / 2 + box, 0, length) - first};
  };
  const int64_t height = images.size(2), width = images.size(3);
  const Side y = draw_side(height);
  const Side x = draw_side(width);
  images.narrow(2, y.first, y.length)
      .narrow(3, x.first, x.length)
      .copy_(partners.narrow(2, y.first, y.length).narrow(3, x.first, x.length));
  return 1 - static_cast<double>(y.length * x.length) / static_cast<double>(height * width);
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

MixedBatch mix_batch(const at::Tensor& images, const at::Tensor& labels, int64_t classes, const MixingOptions& options,
                     uint64_t seed, int64_t epoch, int64_t number) {
  const at::Tensor targets = soft_targets(labels, classes, options.label_smoothing);
  const auto stream = [&](RandomStream name) {
    return CounterRandom(seed, name, static_cast<uint64_t>(epoch), static_cast<uint64_t>(number));
  };
  CounterRandom random = stream(RandomStream::mixing);
  if (!options.mixes() || !random.chance(options.probability)) return {images, targets};

  const bool both = options.mixup > 0 && options.cutmix > 0;
  const bool cut = both ? random.chance(options.switch_probability) : options.cutmix > 0;
  const double alpha = cut ? options.cutmix : options.mixup;
  double share = random.beta(alpha, alpha);  // of the own image
  const at::Tensor order =
      at::tensor(permutation(images.size(0), stream(RandomStream::partners)), at::kLong).to(images.device());
  const at::Tensor partners = images.index_select(0, order);
  at::Tensor mixed;
  if (cut) {
    mixed = images.clone();
    share = paste_box(mixed, partners, share, random);
  } else {
    mixed = at::lerp(partners, images, share);
  }
  return {mixed, at::lerp(targets.index_select(0, order), targets, share)};
}

}  // namespace cachet::data
