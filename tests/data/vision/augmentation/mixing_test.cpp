#include "cachet/data/vision/augmentation/mixing.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace cachet::data {
namespace {

constexpr int64_t kClasses = 12;

// Image i is filled with i and has label i, so that an image tells its own shares.
at::Tensor plain_images(int64_t size = 16) {
  return at::arange(kClasses, at::kFloat).view({-1, 1, 1, 1}).expand({kClasses, 3, size, size}).contiguous();
}
at::Tensor own_labels() { return at::arange(kClasses, at::kLong); }

MixedBatch mixed(const MixingOptions& options, int64_t number, int64_t epoch = 0) {
  return mix_batch(plain_images(), own_labels(), kClasses, options, 3, epoch, number);
}

TEST(SoftTargets, SmoothsOneHotRows) {
  const at::Tensor targets = soft_targets(at::tensor({2, 0}, at::kLong), 4, 0.1);
  EXPECT_TRUE(targets.allclose(
      at::tensor({0.025f, 0.025f, 0.925f, 0.025f, 0.925f, 0.025f, 0.025f, 0.025f}).view({2, 4}), 0, 1e-7));
  EXPECT_TRUE(soft_targets(at::tensor({1}, at::kLong), 2, 0).equal(at::tensor({0.f, 1.f}).view({1, 2})));
}

TEST(Mixing, IsOffByDefault) {
  const MixedBatch batch = mixed({}, 0);
  EXPECT_TRUE(batch.images.equal(plain_images()));
  EXPECT_TRUE(batch.targets.equal(soft_targets(own_labels(), kClasses, 0)));
}

TEST(Mixing, MixupBlendsImagesAndTargetsAlike) {
  for (int64_t number = 0; number < 20; ++number) {
    const MixedBatch batch = mixed({.mixup = 0.8}, number);
    // Each pixel is the expectation of the label under the target.
    const at::Tensor expected = batch.targets.matmul(at::arange(kClasses, at::kFloat));
    EXPECT_TRUE(batch.images.allclose(expected.view({-1, 1, 1, 1}).expand_as(batch.images), 0, 1e-5));
  }
}

TEST(Mixing, CutmixTargetsAreTheSharesOfPixels) {
  int boxes = 0;
  for (int64_t number = 0; number < 50; ++number) {
    const MixedBatch batch = mixed({.cutmix = 1}, number);
    for (int64_t label = 0; label < kClasses; ++label) {
      const at::Tensor share = batch.images.eq(label).to(at::kFloat).mean({1, 2, 3});
      ASSERT_TRUE(share.allclose(batch.targets.select(1, label), 0, 1e-6)) << number;
    }
    boxes += !batch.images.equal(plain_images());
  }
  EXPECT_GT(boxes, 35);
}

TEST(Mixing, RowsSumToOneAlsoWithSmoothing) {
  for (const MixingOptions& options :
       {MixingOptions{.mixup = 0.8, .label_smoothing = 0.1}, MixingOptions{.cutmix = 1, .label_smoothing = 0.1},
        MixingOptions{.mixup = 0.2, .cutmix = 1, .label_smoothing = 0.3}}) {
    const MixedBatch batch = mixed(options, 4);
    EXPECT_TRUE(batch.targets.sum(1).allclose(at::ones({kClasses}), 0, 1e-5));
    EXPECT_GE(batch.targets.min().item<double>(), options.label_smoothing / kClasses - 1e-6);
  }
}

TEST(Mixing, IsAFunctionOfSeedEpochAndNumber) {
  const MixingOptions options{.mixup = 0.8, .cutmix = 1};
  EXPECT_TRUE(mixed(options, 7, 2).images.equal(mixed(options, 7, 2).images));
  EXPECT_FALSE(mixed(options, 7, 2).images.equal(mixed(options, 8, 2).images));
  EXPECT_FALSE(mixed(options, 7, 2).images.equal(mixed(options, 7, 3).images));
}

// What a page shows of a batch without making all of it.
TEST(Mixing, ImagesAreMixedAloneAsInTheirBatch) {
  const at::Tensor targets = soft_targets(own_labels(), kClasses, 0.1);
  for (const MixingOptions& options :
       {MixingOptions{.mixup = 0.8, .label_smoothing = 0.1}, MixingOptions{.cutmix = 1, .label_smoothing = 0.1}}) {
    const auto mixing = draw_mixing(kClasses, 16, 16, options, 3, 0, 4);
    ASSERT_TRUE(mixing);
    EXPECT_EQ(mixing->cut, options.cutmix > 0);
    const int64_t place = 5, partner = mixing->partners.at(5);
    const MixedBatch alone = mix({plain_images().narrow(0, place, 1), targets.narrow(0, place, 1)},
                                 {plain_images().narrow(0, partner, 1), targets.narrow(0, partner, 1)}, *mixing);
    const MixedBatch whole = mixed(options, 4);
    EXPECT_TRUE(alone.images[0].equal(whole.images[place]));
    EXPECT_TRUE(alone.targets[0].equal(whole.targets[place]));
  }
  EXPECT_FALSE(draw_mixing(kClasses, 16, 16, {}, 3, 0, 4));
  EXPECT_FALSE(draw_mixing(kClasses, 16, 16, {.mixup = 1, .probability = 0}, 3, 0, 4));
}

TEST(Mixing, SwitchesAndSkipsAsOftenAsAsked) {
  const auto count = [](const MixingOptions& options) {
    struct {
      int cut = 0, untouched = 0;
    } found;
    for (int64_t number = 0; number < 400; ++number) {
      const at::Tensor images = mixed(options, number).images;
      const bool whole_values = images.eq(images.round()).all().item<bool>();
      found.cut += whole_values && !images.equal(plain_images());
      found.untouched += images.equal(plain_images());
    }
    return found;
  };
  const auto half = count({.mixup = 1, .cutmix = 1, .switch_probability = 0.5});
  EXPECT_NEAR(half.cut, 200, 60);  // five deviations, and the boxes too small to hold a pixel
  EXPECT_EQ(count({.mixup = 1, .cutmix = 1, .switch_probability = 0}).cut, 0);
  const auto rare = count({.mixup = 1, .probability = 0.25});
  EXPECT_NEAR(rare.untouched, 300, 45);
}

TEST(Mixing, LeavesItsInputAlone) {
  const at::Tensor images = plain_images();
  mix_batch(images, own_labels(), kClasses, {.cutmix = 1}, 0, 0, 0);
  EXPECT_TRUE(images.equal(plain_images()));
}

TEST(Mixing, ABatchOfOneIsItsOwnPartner) {
  const at::Tensor image = at::ones({1, 3, 8, 8});
  const MixedBatch batch = mix_batch(image, at::tensor({1}, at::kLong), 2, {.mixup = 1}, 0, 0, 0);
  EXPECT_TRUE(batch.images.allclose(image));
  EXPECT_TRUE(batch.targets.allclose(at::tensor({0.f, 1.f}).view({1, 2})));
}

TEST(MixingOptions, AreReadFromARecipe) {
  auto document = config::Document::from_text(
      "mixup = 0.8\ncutmix = 1\nprobability = 0.9\nswitch_probability = 0.25\nlabel_smoothing = 0.1", "recipe.toml");
  const MixingOptions options = read_mixing_options(document.root());
  document.finish();
  EXPECT_EQ(options.mixup, 0.8);
  EXPECT_EQ(options.cutmix, 1);
  EXPECT_EQ(options.probability, 0.9);
  EXPECT_EQ(options.switch_probability, 0.25);
  EXPECT_EQ(options.label_smoothing, 0.1);
  auto bad = config::Document::from_text("mixup = -1\nlabel_smoothing = 1", "recipe.toml");
  read_mixing_options(bad.root());
  EXPECT_THROW(bad.finish(), config::Error);
}

}  // namespace
}  // namespace cachet::data
