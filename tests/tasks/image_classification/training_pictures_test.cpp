#include "cachet/tasks/image_classification/training_pictures.h"

#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "cachet/data/order/equal_batches.h"
#include "cachet/io/tensors/png.h"
#include "tests/support/bytes.h"

namespace cachet::tasks {
namespace {

constexpr uint64_t kPictureSeed = 5;
const data::Normalization kPictureNormalization{{0.5, 0.4, 0.3}, {0.2, 0.3, 0.4}};

data::ImageLoader picture_loader(int64_t batch_size, int64_t channels = 3) {
  const int64_t count = 60;
  const data::ImageShape shape{channels, 8, 6};
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(i % 3);
  auto images = std::make_shared<data::LabelledImages>(
      std::make_shared<data::StoredImages>(at::randint(0, 256, {count, channels, 8, 6}, at::kByte)),
      data::ClassLabels(labels, {"cat", "dog", "owl"}));
  data::Normalization normalization = kPictureNormalization;
  normalization.mean.resize(static_cast<size_t>(channels));
  normalization.std.resize(static_cast<size_t>(channels));
  data::AugmentationOptions augmentation;
  augmentation.flip = 0.5;
  if (channels == 3) augmentation.crop_padding = 2;
  return {images, data::ImageTransform(shape, normalization, augmentation),
          std::make_shared<data::EqualBatches>(count, data::EqualBatchOptions{batch_size, true, true, kPictureSeed})};
}

report::ImageGrid pictures_of(const data::ImageLoader& loader, const data::MixingOptions& mixing) {
  return training_pictures(loader, kPictureNormalization, mixing, kPictureSeed);
}

at::Tensor pixels_of(const report::Picture& picture) { return io::decode_png(test::bytes_of(picture.png), "picture"); }

// What training makes of the loader's first batch.
void expect_first_batch(const data::ImageLoader& loader, const data::MixingOptions& mixing, size_t count) {
  const data::ImageBatch batch = *loader.iterate(/*epoch=*/0).next();
  const data::MixedBatch mixed = data::mix_batch(batch.images, batch.labels, 3, mixing, kPictureSeed, 0, batch.number);
  const report::ImageGrid grid = pictures_of(loader, mixing);
  ASSERT_EQ(grid.pictures.size(), count);
  for (size_t i = 0; i < count; ++i) {
    const auto row = static_cast<int64_t>(i);
    EXPECT_TRUE(pixels_of(grid.pictures[i]).equal(data::pixels_of_normalized(mixed.images[row], kPictureNormalization)))
        << i;
  }
}

TEST(TrainingPictures, AreThoseOfTheFirstBatch) {
  const data::ImageLoader loader = picture_loader(20), small = picture_loader(4);
  for (const data::MixingOptions& mixing :
       {data::MixingOptions{}, data::MixingOptions{.mixup = 0.8}, data::MixingOptions{.cutmix = 1}}) {
    expect_first_batch(loader, mixing, 16);
    expect_first_batch(small, mixing, 4);
  }
}

TEST(TrainingPictures, SayTheClassesAndTheirShares) {
  const data::ImageLoader loader = picture_loader(20);
  const data::ImageBatch batch = *loader.iterate(/*epoch=*/0).next();
  const std::vector<std::string> names{"cat", "dog", "owl"};
  const report::ImageGrid plain = pictures_of(loader, {});
  for (size_t i = 0; i < plain.pictures.size(); ++i) {
    const std::string& own = names.at(static_cast<size_t>(batch.labels[static_cast<int64_t>(i)].item<int64_t>()));
    EXPECT_EQ(plain.pictures[i].predicted, own);
    EXPECT_EQ(plain.pictures[i].truth, own) << "nothing is marked as wrong";
  }
  EXPECT_NE(plain.note.find("16 of the 20 images"), std::string::npos) << plain.note;

  // Fractions from Beta(50, 50): about a half each.
  const report::ImageGrid mixed = pictures_of(loader, {.mixup = 50, .label_smoothing = 0.3});
  std::set<size_t> counts;
  for (const report::Picture& picture : mixed.pictures) {
    double sum = 0;
    size_t named = 0;
    for (const std::string& name : names) {
      const size_t place = picture.predicted.find(name + " 0.");
      if (place == std::string::npos) continue;
      ++named;
      sum += std::stod(picture.predicted.substr(place + name.size()));
    }
    counts.insert(named);
    // 0.7 of the target are the image's own; 0.1 are given to each class, those that are not named among them.
    EXPECT_NEAR(sum, 0.7 + 0.1 * static_cast<double>(named), 0.011) << picture.predicted;
  }
  EXPECT_EQ(counts, (std::set<size_t>{1, 2})) << "partners of one class, and of two";
  EXPECT_NE(mixed.note.find("mixup"), std::string::npos) << mixed.note;
  EXPECT_NE(mixed.note.find("Label smoothing"), std::string::npos) << mixed.note;
}

TEST(TrainingPictures, SayWhereTheBatchIsOneOfThoseThatAreNotMixed) {
  const report::ImageGrid grid = pictures_of(picture_loader(20), {.cutmix = 1, .probability = 0});
  EXPECT_NE(grid.note.find("mixed, but not this one"), std::string::npos) << grid.note;
}

TEST(TrainingPictures, AreNoneOfImagesThatHaveNoColoursToShow) {
  EXPECT_TRUE(training_pictures(picture_loader(20, 2), {{0.5, 0.5}, {1, 1}}, {}, kPictureSeed).pictures.empty());
}

// Of which one cannot be read.
class ImagesWithoutOne : public data::ImageSource {
 public:
  ImagesWithoutOne(std::shared_ptr<const data::LabelledImages> all, int64_t missing)
      : all_(std::move(all)), missing_(missing) {}
  int64_t size() const override { return all_->size(); }
  data::ImageShape shape() const override { return all_->images().shape(); }
  at::Tensor image(int64_t index) const override {
    if (index == missing_) throw std::runtime_error("the disk is on fire");
    return all_->images().image(index);
  }
  data::DataDigest digest() const override { return all_->images().digest(); }
  std::string image_digest(int64_t index) const override { return all_->images().image_digest(index); }
  void add_to(data::Fingerprint& fingerprint) const override { all_->images().add_to(fingerprint); }
  std::shared_ptr<const data::ImageSource> subset(const std::vector<int64_t>& indices) const override {
    return all_->images().subset(indices);
  }

 private:
  std::shared_ptr<const data::LabelledImages> all_;
  int64_t missing_;
};

TEST(TrainingPictures, ReadOnlyWhatTheyShow) {
  const data::ImageLoader loader = picture_loader(20);
  const std::vector<int64_t> indices = loader.place(0, 0).indices();
  const auto without = [&](size_t place) {
    const auto images = std::make_shared<data::LabelledImages>(loader.dataset());
    const auto broken = std::make_shared<data::LabelledImages>(
        std::make_shared<ImagesWithoutOne>(images, indices.at(place)), images->labels());
    return data::ImageLoader(
        broken, loader.transform(),
        std::make_shared<data::EqualBatches>(60, data::EqualBatchOptions{20, true, true, kPictureSeed}));
  };
  EXPECT_EQ(pictures_of(without(16), {}).pictures.size(), 16u);
  EXPECT_THROW(pictures_of(without(15), {}), std::runtime_error);
}

}  // namespace
}  // namespace cachet::tasks
