#include "cachet/data/vision/image_loader.h"

#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "cachet/data/order/equal_batches.h"
#include "tests/support/equal_batches.h"

namespace cachet::data {
namespace {

constexpr ImageShape kLoaderShape{3, 8, 6};

std::shared_ptr<const LabelledImages> loader_images(int64_t count = 50) {
  static const at::Tensor pixels = at::randint(0, 256, {200, 3, 8, 6}, at::kByte);
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(i % 7);
  const std::vector<std::string> names(7, "class");
  return std::make_shared<LabelledImages>(std::make_shared<StoredImages>(pixels.narrow(0, 0, count)),
                                          ClassLabels(labels, names));
}

std::shared_ptr<const BatchOrder> equal(EqualBatchOptions options, int64_t size = 50) {
  return std::make_shared<EqualBatches>(size, options);
}

ImageTransform all_augmentations(ResizeOptions resize = {}) {
  return {kLoaderShape,
          {{0.5, 0.4, 0.3}, {0.2, 0.3, 0.4}},
          {.flip = 0.5, .crop_padding = 2, .erasing = {.probability = 0.5}},
          resize};
}

std::vector<ImageBatch> all_batches(const ImageLoader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<ImageBatch> batches;
  BatchIterator<ImageBatch> stream = loader.iterate(epoch, first);
  while (auto batch = stream.next()) batches.push_back(std::move(*batch));
  return batches;
}

TEST(ImageLoader, BatchesAreTheSameForAnyNumberOfWorkers) {
  for (const ResizeOptions& resize : {ResizeOptions{}, ResizeOptions{.image_size = 12}}) {
    const auto loader = [&](int64_t workers) {
      return ImageLoader(loader_images(), all_augmentations(resize),
                         equal({.batch_size = 4, .drop_last = false, .seed = 9}), {.workers = workers});
    };
    const auto alone = all_batches(loader(0), 3);
    EXPECT_EQ(alone.size(), 13u);
    for (const int64_t workers : {1, 2, 5}) test::expect_equal_batches(all_batches(loader(workers), 3), alone);
  }
}

TEST(ImageLoader, StartsAtAnyBatch) {
  const ImageLoader loader(loader_images(), all_augmentations(), equal({.batch_size = 6, .seed = 1}), {.workers = 2});
  const auto whole = all_batches(loader, 7);
  for (int64_t first = 0; first <= loader.batches(); ++first) {
    test::expect_equal_batches(all_batches(loader, 7, first), {whole.begin() + first, whole.end()});
  }
  EXPECT_THROW(loader.iterate(0, loader.batches() + 1), std::out_of_range);
  EXPECT_THROW(loader.iterate(0, -1), std::out_of_range);
}

TEST(ImageLoader, MakesSomeSamplesOfABatchAlone) {
  const ImageLoader loader(loader_images(), all_augmentations({.image_size = 12}),
                           equal({.batch_size = 6, .seed = 1, .repeats = 2}));
  const ImageBatch whole = all_batches(loader, 7)[3];
  BatchPlace place = loader.place(7, 3);
  EXPECT_EQ(place.indices(), whole.indices);
  place.samples = {place.samples[4], place.samples[1]};
  const ImageBatch some = loader.make(place);
  EXPECT_EQ(some.number, 3);
  EXPECT_EQ(some.indices, (std::vector<int64_t>{whole.indices[4], whole.indices[1]}));
  EXPECT_TRUE(some.images[0].equal(whole.images[4]));
  EXPECT_TRUE(some.images[1].equal(whole.images[1]));
  EXPECT_EQ(some.labels[1].item<int64_t>(), whole.labels[1].item<int64_t>());
  EXPECT_THROW(loader.place(0, loader.batches()), std::out_of_range);
}

TEST(ImageLoader, EpochsDifferInOrderAndAugmentation) {
  const ImageLoader loader(loader_images(), all_augmentations(), equal({.batch_size = 50, .seed = 1}));
  const ImageBatch first = all_batches(loader, 0).front();
  const ImageBatch second = all_batches(loader, 1).front();
  EXPECT_NE(first.indices, second.indices);
  // Sample 0 looks different in the two, also where it stands elsewhere in the batch.
  const auto place = [](const ImageBatch& batch) {
    return std::ranges::find(batch.indices, 0) - batch.indices.begin();
  };
  EXPECT_FALSE(first.images[place(first)].equal(second.images[place(second)]));
}

TEST(ImageLoader, EvaluatesEverySampleOnceInOrder) {
  const auto images = loader_images(10);
  const Normalization plain{{0, 0, 0}, {1, 1, 1}};
  const ImageLoader loader(images, {kLoaderShape, plain},
                           equal({.batch_size = 4, .shuffle = false, .drop_last = false}, 10));
  const auto batches = all_batches(loader, 0);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].indices, (std::vector<int64_t>{8, 9}));
  EXPECT_EQ(batches[2].images.sizes(), (std::vector<int64_t>{2, 3, 8, 6}));
  EXPECT_TRUE(batches[2].images[1].mul(255).round().to(at::kByte).equal(images->images().image(9)));
  EXPECT_EQ(batches[2].labels[1].item<int64_t>(), 9 % 7);
}

TEST(ImageLoader, StreamsOutliveTheLoader) {
  auto loader = std::make_unique<ImageLoader>(loader_images(), all_augmentations(), equal({.batch_size = 5}),
                                              LoaderOptions{.workers = 2});
  BatchIterator<ImageBatch> stream = loader->iterate(0);
  loader.reset();
  int batches = 0;
  while (stream.next()) ++batches;
  EXPECT_EQ(batches, 10);
  EXPECT_GT(stream.waited_seconds(), 0);
}

// Images of which one cannot be read.
class BrokenImages : public ImageSource {
 public:
  explicit BrokenImages(bool throws) : throws_(throws) {}
  int64_t size() const override { return samples_->size(); }
  ImageShape shape() const override { return samples_->images().shape(); }
  at::Tensor image(int64_t index) const override {
    if (index != 13) return samples_->images().image(index);
    if (throws_) throw std::runtime_error("the disk is on fire");
    return samples_->images().image(index).narrow(1, 0, 4);
  }
  DataDigest digest() const override { return samples_->images().digest(); }
  std::string image_digest(int64_t index) const override { return samples_->images().image_digest(index); }
  void add_to(Fingerprint& fingerprint) const override { samples_->images().add_to(fingerprint); }
  std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const override {
    return samples_->images().subset(indices);
  }

 private:
  std::shared_ptr<const LabelledImages> samples_ = loader_images();
  bool throws_;
};

TEST(ImageLoader, NamesTheSampleThatFailed) {
  for (const int64_t workers : {0, 1, 3}) {
    for (const bool throws : {true, false}) {
      const auto broken =
          std::make_shared<LabelledImages>(std::make_shared<BrokenImages>(throws), loader_images()->labels());
      const ImageLoader loader(broken, all_augmentations(), equal({.batch_size = 5, .shuffle = false}),
                               {.workers = workers});
      BatchIterator<ImageBatch> stream = loader.iterate(4);
      EXPECT_TRUE(stream.next());
      EXPECT_TRUE(stream.next());
      try {
        stream.next();
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        const std::string expected =
            throws ? "sample 13: the disk is on fire" : "sample 13: the data set returned an image";
        EXPECT_EQ(std::string(error.what()).substr(0, expected.size()), expected);
      }
      EXPECT_FALSE(stream.next());
    }
  }
}

TEST(ImageLoader, RepeatsSamplesEachAugmentedAnew) {
  const auto loader = [](int64_t repeats) {
    return ImageLoader(loader_images(), all_augmentations(), equal({.batch_size = 10, .seed = 4, .repeats = repeats}));
  };
  const auto once = all_batches(loader(1), 2), thrice = all_batches(loader(3), 2);
  ASSERT_EQ(thrice.size(), once.size());
  int64_t differing = 0;
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(thrice[0].indices[i], once[0].indices[i / 3]);
    const auto place = static_cast<int64_t>(i);
    const at::Tensor single = once[0].images[place / 3];
    if (i % 3 == 0) {
      EXPECT_TRUE(thrice[0].images[place].equal(single)) << "the first repetition is the sample as ever";
    } else {
      differing += !thrice[0].images[place].equal(single);
    }
  }
  EXPECT_GE(differing, 4) << "of six; some draw nothing";
  test::expect_equal_batches(all_batches(loader(3), 2, 3), {thrice.begin() + 3, thrice.end()});
}

TEST(ImageLoader, RefusesAnotherShape) {
  EXPECT_THROW(ImageLoader(loader_images(), ImageTransform({3, 8, 8}, {{0, 0, 0}, {1, 1, 1}}), equal({})),
               std::invalid_argument);
  EXPECT_THROW(ImageLoader(loader_images(), all_augmentations(), equal({}), {.workers = -1}), std::invalid_argument);
  EXPECT_THROW(ImageLoader(loader_images(), all_augmentations(), equal({}), {.prefetch = 0}), std::invalid_argument);
}

TEST(ImageLoader, RefusesAnOrderOfOtherSamples) {
  EXPECT_THROW(ImageLoader(loader_images(), all_augmentations(), equal({}, 49)), std::invalid_argument);
}

// Two shards together have what one process has, and the part of a batch that has too few samples is empty.
TEST(ImageLoader, ShardsShareEachBatch) {
  const EqualBatchOptions options{.batch_size = 7, .drop_last = false, .seed = 4};
  const ImageTransform transform = all_augmentations({.image_size = 12});
  const auto batches_of = [&](Shard shard) {
    const auto order = std::make_shared<EqualBatches>(50, options, shard);
    return all_batches(ImageLoader(loader_images(), transform, order), 3);
  };
  const auto whole = batches_of({}), even = batches_of({0, 2}), odd = batches_of({1, 2});
  ASSERT_EQ(even.size(), whole.size());
  ASSERT_EQ(odd.size(), whole.size());
  for (size_t b = 0; b < whole.size(); ++b) {
    for (int64_t i = 0; i < whole[b].images.size(0); ++i)
      EXPECT_TRUE(whole[b].images[i].equal((i % 2 == 0 ? even : odd)[b].images[i / 2]));
  }
  EXPECT_EQ(whole.back().images.size(0), 1);
  EXPECT_EQ(odd.back().images.sizes(), (std::vector<int64_t>{0, 3, 12, 12}));
  EXPECT_EQ(odd.back().labels.numel(), 0);
}

TEST(LoaderOptions, AreReadFromARecipe) {
  auto document = config::Document::from_text("workers = 3\nprefetch = 5", "recipe.toml");
  const LoaderOptions options = read_loader_options(document.root());
  document.finish();
  EXPECT_EQ(options.workers, 3);
  EXPECT_EQ(options.prefetch, 5);
  auto bad = config::Document::from_text("workers = -1", "recipe.toml");
  read_loader_options(bad.root());
  EXPECT_THROW(bad.finish(), config::Error);
}

}  // namespace
}  // namespace cachet::data
