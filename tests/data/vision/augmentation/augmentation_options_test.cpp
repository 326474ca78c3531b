#include "cachet/data/vision/augmentation/augmentation_options.h"

#include <gtest/gtest.h>

namespace cachet::data {
namespace {

TEST(AugmentationOptions, AreReadFromARecipe) {
  auto document = config::Document::from_text(
      "flip = 0.5\ncrop_padding = 4\ncrop_fill = \"reflect\"\nerasing = 0.25\nimage_size = 224\n"
      "interpolation = \"bilinear\"",
      "recipe.toml");
  const AugmentationOptions options = read_augmentation_options(document.root());
  const ResizeOptions resize = read_resize_options(document.root());
  document.finish();
  EXPECT_EQ(options.flip, 0.5);
  EXPECT_EQ(options.crop_padding, 4);
  EXPECT_EQ(options.crop_fill, CropFill::reflect);
  EXPECT_EQ(options.erasing.probability, 0.25);
  EXPECT_EQ(options.erasing.least_area, 0.02);
  EXPECT_EQ(resize.image_size, 224);
  EXPECT_EQ(resize.interpolation, Interpolation::bilinear);
}

TEST(AugmentationOptions, ImpossibleValuesAreAllNamed) {
  auto document = config::Document::from_text(
      "flip = 1.5\ncrop_padding = -1\ncrop_fill = \"mirror\"\nerasing_least_area = 0.5\nerasing_most_area = 0.2",
      "recipe.toml");
  read_augmentation_options(document.root());
  try {
    document.finish();
    FAIL();
  } catch (const config::Error& error) {
    EXPECT_EQ(error.problems().size(), 4u) << error.what();
  }
}

std::string problems_of_augmentation(const std::string& text, bool own_sizes) {
  auto document = config::Document::from_text(text, "recipe.toml");
  read_augmentation_options(document.root(), own_sizes);
  read_resize_options(document.root(), own_sizes ? ResizeOptions::of_own_sizes() : ResizeOptions());
  try {
    document.finish();
  } catch (const config::Error& error) {
    return error.what();
  }
  return "";
}

TEST(AugmentationOptions, OfThePublishedRecipeAreRead) {
  auto document = config::Document::from_text(
      "flip = 0.5\ncrop_area = [0.1, 0.9]\ncrop_aspect = [0.5, 2]\nbrightness = 0.4\nhue = 0.1\nerasing = 0.25\n"
      "erasing_mode = \"pixel\"\nerasing_least_aspect = 0.25\n[rand_augment]\noperations = 2\nmagnitude = 7\n"
      "increasing = false",
      "recipe.toml");
  const AugmentationOptions options = read_augmentation_options(document.root(), /*own_sizes=*/true);
  const ResizeOptions resize = read_resize_options(document.root(), ResizeOptions::of_own_sizes());
  document.finish();
  EXPECT_EQ(options.crop, CropKind::resized) << "of images of their own sizes";
  EXPECT_EQ(options.resized_crop.least_area, 0.1);
  EXPECT_EQ(options.resized_crop.most_aspect, 2);
  EXPECT_EQ(options.jitter.brightness, 0.4);
  EXPECT_EQ(options.jitter.hue, 0.1);
  EXPECT_EQ(options.erasing.mode, ErasingMode::pixel);
  EXPECT_EQ(options.erasing.least_aspect, 0.25);
  EXPECT_EQ(options.rand_augment.operations, 2);
  EXPECT_EQ(options.rand_augment.magnitude, 7);
  EXPECT_EQ(options.rand_augment.deviation, 0.5);
  EXPECT_FALSE(options.rand_augment.increasing);
  EXPECT_EQ(resize.image_size, 224);
  EXPECT_EQ(resize.crop_fraction, 0.875);
}

TEST(AugmentationOptions, WhatDoesNotFitIsNamed) {
  const auto has = [](const std::string& text, bool own_sizes, const std::string& part) {
    const std::string problems = problems_of_augmentation(text, own_sizes);
    EXPECT_NE(problems.find(part), std::string::npos) << problems;
  };
  has("crop = \"padded\"", true, "crop: \"padded\" needs images that all have the same size");
  has("crop = \"center\"", false, "did you mean 'centre'?");
  has("crop = \"resized\"\ncrop_area = [0.5, 0.1]", false,
      "crop_area: must be two numbers, with the smaller number first");
  has("crop = \"resized\"\ncrop_area = 0.5", false, "crop_area: must be two numbers");
  has("crop = \"resized\"\ncrop_area = [0, 1]", false, "crop_area");
  has("crop_area = [0.1, 1]", false, "crop_area: unknown key");
  has("image_size = 0", true, "image_size");
  has("image_size = [224, 0]", true, "image_size: item 2 must be at least 1");
  has("image_size = [224, 0]", false, "image_size: must be 0 for both sides, or above 0 for both sides");
  has("image_size = [1, 2, 3]", true, "image_size: must be one number or two, not 3");
  has("crop_fraction = 0", true, "crop_fraction");
  has("hue = 0.6", true, "hue");
  has("[rand_augment]\nmagnitude = 11\noperatoins = 2", true, "did you mean 'operations'?");
}

}  // namespace
}  // namespace cachet::data
