#include "cachet/data/vision/pixels/pixel_normalization.h"

#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

StoredImages random_images(int64_t count, int64_t channels) {
  return StoredImages(at::randint(0, 256, {count, channels, 6, 5}, at::kByte));
}

TEST(Normalization, FromDataIsTheMeanAndDeviationOfAllPixels) {
  const StoredImages images = random_images(20, 3);
  const Normalization found = Normalization::from_data(images);
  const at::Tensor pixels = images.images().to(at::kDouble).div(255).transpose(0, 1).reshape({3, -1});
  for (int64_t c = 0; c < 3; ++c) {
    const auto channel = static_cast<size_t>(c);
    EXPECT_NEAR(found.mean[channel], pixels[c].mean().item<double>(), 1e-12);
    EXPECT_NEAR(found.std[channel], pixels[c].std(false).item<double>(), 1e-12);
  }
}

TEST(Normalization, OneColourDoesNotDivideByZero) {
  const StoredImages black(at::zeros({2, 1, 3, 3}, at::kByte));
  const Normalization found = Normalization::from_data(black);
  EXPECT_EQ(found.mean, (std::vector<double>{0}));
  EXPECT_EQ(found.std, (std::vector<double>{1}));
}

TEST(Normalization, TheSourceDecides) {
  const StoredImages images = random_images(3, 1);
  const auto make = [&](const NormalizationOptions& options, const ImageKind& kind) {
    return make_normalization(options, kind, images);
  };
  EXPECT_EQ(make({}, kMnist).mean, (std::vector<double>{0.1307}));
  EXPECT_EQ(make({}, kIdx).mean, Normalization::from_data(images).mean);
  EXPECT_EQ(make({.source = NormalizationSource::data}, kMnist).mean, Normalization::from_data(images).mean);
  EXPECT_EQ(make({.source = NormalizationSource::none}, kMnist).std, (std::vector<double>{1}));
  const NormalizationOptions given{.mean = {0.5}, .std = {0.25}};
  EXPECT_EQ(make(given, kMnist).std, (std::vector<double>{0.25}));
}

TEST(Normalization, OfClassFoldersIsThatOfImageNet) {
  const auto make = [](int64_t channels) { return make_normalization({}, kClassFolders, random_images(2, channels)); };
  EXPECT_EQ(make(3).mean, (std::vector<double>{0.485, 0.456, 0.406}));
  ASSERT_EQ(make(1).mean.size(), 1u);
  EXPECT_NEAR(make(1).mean[0], 0.449, 1e-12);
  EXPECT_NEAR(make(1).std[0], 0.226, 1e-12);
}

TEST(Normalization, OneGivenValueServesAllChannels) {
  const StoredImages images = random_images(3, 3);
  EXPECT_EQ(make_normalization({.mean = {0.5}, .std = {0.25}}, kIdx, images).std,
            (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_THROW(make_normalization({.mean = {0.5, 0.5}, .std = {1, 1}}, kIdx, images), std::invalid_argument);
}

TEST(NormalizationOptions, AreReadFromARecipe) {
  const auto read = [](const char* text) {
    auto document = config::Document::from_text(text, "recipe.toml");
    const NormalizationOptions options = read_normalization_options(document.root());
    document.finish();
    return options;
  };
  EXPECT_EQ(read("").source, NormalizationSource::automatic);
  EXPECT_EQ(read("source = \"data\"").source, NormalizationSource::data);
  EXPECT_EQ(read("mean = [0.5, 0.25, 0]\nstd = [1, 1, 0.5]").mean, (std::vector<double>{0.5, 0.25, 0}));
  EXPECT_THROW(read("mean = [0.5]"), config::Error);
  EXPECT_THROW(read("mean = [0.5]\nstd = [1, 1]"), config::Error);
  for (const char* text : {"mean = [0.5]\nstd = [0]", "std = [0]\nmean = [0.5, 0.5]"}) {
    const std::string said = test::thrown_message<config::Error>([&] { read(text); });
    EXPECT_NE(said.find("must be at least 1e-06"), std::string::npos) << said;
    EXPECT_EQ(said.find("together"), std::string::npos) << said;
  }
  EXPECT_THROW(read("source = \"dat\""), config::Error);
}

TEST(FlattenedImages, IsAMatrixOfTheNormalisedPixels) {
  const StoredImages images = random_images(4, 2);
  const at::Tensor matrix = flattened_images(images, {{0.5, 0.25}, {0.25, 0.5}});
  ASSERT_EQ(matrix.sizes(), (std::vector<int64_t>{4, 60}));
  const double pixel = images.image(3)[1][5][4].item<double>() / 255;
  EXPECT_NEAR(matrix[3][59].item<double>(), (pixel - 0.25) / 0.5, 1e-6);
}

}  // namespace
}  // namespace cachet::data
