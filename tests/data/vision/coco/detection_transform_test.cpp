#include "cachet/data/vision/coco/detection_transform.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "cachet/config/document.h"
#include "cachet/geometry/mask_transforms.h"
#include "cachet/geometry/polygon.h"
#include "tests/support/coco_json.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using geometry::Box;
using geometry::Size;
using nlohmann::json;
using test::thrown_message;

const Normalization kImageNet{{123.675 / 255, 116.28 / 255, 103.53 / 255}, {58.395 / 255, 57.12 / 255, 57.375 / 255}};

void expect_boxes(const std::vector<Box>& boxes, const json& expected) {
  ASSERT_EQ(boxes.size(), expected.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    const Box box = test::box_of(expected[i]);
    for (double Box::*side : {&Box::left, &Box::top, &Box::right, &Box::bottom})
      EXPECT_NEAR(boxes[i].*side, box.*side, 1e-9 * std::max(1.0, std::abs(box.*side)));
  }
}

at::Tensor image_of(const json& rows) {
  std::vector<uint8_t> values;
  for (const auto& row : rows) {
    for (const auto& pixel : row) {
      for (const int value : pixel) values.push_back(static_cast<uint8_t>(value));
    }
  }
  return at::tensor(values, at::kByte)
      .view({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size()), 3});
}

TEST(DetectionTransform, ResizesWithinALimitAsMmdetection) {
  const json oracle = test::json_oracle("det_pipeline.json");
  size_t cases = 0;
  for (const json& entry : oracle["resize"]) {
    const int64_t a = entry["scale"][0], b = entry["scale"][1];
    const Size image{entry["h"], entry["w"]};
    const Size size = size_within(image, {std::max(a, b), std::min(a, b)});
    EXPECT_EQ(size, (Size{entry["new_h"], entry["new_w"]}));
    EXPECT_EQ(padded_side(size.height, 32), entry["padded_h"]);
    EXPECT_EQ(padded_side(size.width, 32), entry["padded_w"]);
    EXPECT_NEAR(static_cast<double>(size.width) / static_cast<double>(image.width), entry["scale_factor"][0], 1e-9);
    EXPECT_NEAR(static_cast<double>(size.height) / static_cast<double>(image.height), entry["scale_factor"][1], 1e-9);
    ++cases;
  }
  EXPECT_EQ(cases, 100u);
}

TEST(DetectionTransform, MovesObjectsAsMmdetection) {
  const json oracle = test::json_oracle("det_pipeline.json");
  for (const json& entry : oracle["images"]) {
    const Size image{entry["h"], entry["w"]};
    DetectionObjects objects;
    for (size_t i = 0; i < entry["boxes"].size(); ++i) {
      objects.boxes.push_back(test::box_of(entry["boxes"][i]));
      objects.crowds.push_back(objects.boxes.back());
      objects.labels.push_back(static_cast<int64_t>(i));
      objects.masks.push_back(test::mask_of(entry["masks"][i]));
    }
    const int64_t a = entry["scale"][0], b = entry["scale"][1];
    const Size size = size_within(image, {std::max(a, b), std::min(a, b)});
    EXPECT_EQ(size, (Size{entry["img_shape"][0], entry["img_shape"][1]}));
    const DetectionObjects in_size = resized(objects, image, size);
    expect_boxes(in_size.boxes, entry["boxes_resized"]);
    expect_boxes(in_size.crowds, entry["boxes_resized"]);
    for (size_t i = 0; i < in_size.masks.size(); ++i)
      EXPECT_EQ(in_size.masks[i], test::mask_of(entry["masks_resized"][i]));
    if (entry["flip"] == "horizontal") {
      const DetectionObjects across = mirrored(in_size, size);
      expect_boxes(across.boxes, entry["boxes_flipped"]);
      const Size padded{entry["pad_shape"][0], entry["pad_shape"][1]};
      for (size_t i = 0; i < across.masks.size(); ++i)
        EXPECT_EQ(windowed(across.masks[i], 0, 0, padded), test::mask_of(entry["masks_padded"][i]));
    }
  }
}

TEST(DetectionTransform, CropsObjectsAsMmdetection) {
  const json oracle = test::json_oracle("det_pipeline.json");
  for (const json& entry : oracle["crops"]) {
    DetectionObjects objects;
    for (size_t i = 0; i < entry["boxes"].size(); ++i) {
      objects.boxes.push_back(test::box_of(entry["boxes"][i]));
      objects.labels.push_back(static_cast<int64_t>(i));
      const geometry::Polygon polygon = entry["polygons"][i];
      objects.masks.push_back(geometry::rasterized(std::span<const double>(polygon), Size{entry["h"], entry["w"]}));
    }
    const Size window{entry["draws"][0]["value"], entry["draws"][1]["value"]};
    EXPECT_EQ(window, (Size{entry["img_shape"][0], entry["img_shape"][1]}));
    const DetectionObjects inside = cropped(objects, window, entry["draws"][2]["value"], entry["draws"][3]["value"]);
    expect_boxes(inside.boxes, entry["boxes_cropped"]);
    EXPECT_EQ(inside.labels, entry["kept"].get<std::vector<int64_t>>());
    for (size_t i = 0; i < inside.masks.size(); ++i)
      EXPECT_EQ(inside.masks[i], test::mask_of(entry["masks_cropped"][i]));
  }
}

TEST(DetectionTransform, ShowsPixelsAsMmdetection) {
  const json pixels = test::json_oracle("det_pipeline.json")["pixels"];
  const json& bilinear = pixels["bilinear"];
  const at::Tensor resized = resized_bilinear(image_of(bilinear["image"]), {bilinear["new_h"], bilinear["new_w"]});
  const at::Tensor difference = (resized.to(at::kInt) - image_of(bilinear["resized"]).to(at::kInt)).abs();
  EXPECT_LE(difference.max().item<int>(), 1);
  // Normalised in double; the batch is float32.
  const json rgb = json::array({pixels["rgb"]});
  const DetectionTransform transform({.scales = {{6, 1}}, .mirror = 0}, kImageNet);
  DetectionDraws draws;
  draws.scale = {6, 1};
  const DetectionSample sample = transform.apply(image_of(rgb), {}, draws);
  for (size_t i = 0; i < pixels["rgb"].size(); ++i) {
    for (size_t channel = 0; channel < 3; ++channel) {
      const double expected = pixels["normalised"][i][channel];
      const double value =
          (pixels["rgb"][i][channel].get<double>() / 255 - kImageNet.mean[channel]) / kImageNet.std[channel];
      EXPECT_NEAR(value, expected, 1e-9);
      EXPECT_EQ(sample.pixels[static_cast<int64_t>(channel)][0][static_cast<int64_t>(i)].item<float>(),
                static_cast<float>(value));
    }
  }
}

TEST(DetectionTransform, HasSwinsScales) {
  const json oracle = test::json_oracle("det_pipeline.json");
  const auto expect = [](const std::vector<ScaleLimit>& limits, const json& expected) {
    ASSERT_EQ(limits.size(), expected.size());
    for (size_t i = 0; i < limits.size(); ++i) EXPECT_EQ(limits[i], (ScaleLimit{expected[i][1], expected[i][0]}));
  };
  const auto options = DetectionTransformOptions::multi_scale();
  expect(options.scales, oracle["swin_scales"]);
  expect(options.crop_scales, oracle["swin_small_scales"]);
  EXPECT_TRUE(options.mirror_first);
  const auto evaluation = options.for_evaluation();
  EXPECT_EQ(evaluation.scales, (std::vector<ScaleLimit>{{1333, 800}}));
  EXPECT_EQ(evaluation.mirror, 0);
  EXPECT_EQ(evaluation.crop_share, 0);
}

TEST(DetectionTransform, DrawsAFunctionOfSeedEpochAndIndex) {
  const DetectionTransform transform(DetectionTransformOptions::multi_scale(), kImageNet);
  std::map<int64_t, int> scales, crops;
  int mirrored = 0, cropped = 0;
  constexpr int kDraws = 4000;
  for (uint64_t i = 0; i < kDraws; ++i) {
    const DetectionDraws draws = transform.draw({1, 2, i});
    const DetectionDraws again = transform.draw({1, 2, i});
    EXPECT_EQ(draws.scale, again.scale);
    EXPECT_EQ(draws.crop, again.crop);
    ++scales[draws.scale.shorter];
    mirrored += draws.mirrored;
    cropped += draws.cropped;
    if (draws.cropped) ++crops[draws.crop_scale.shorter];
  }
  // Five deviations of a binomial draw.
  EXPECT_NEAR(mirrored, kDraws / 2, 5 * 32);
  EXPECT_NEAR(cropped, kDraws / 2, 5 * 32);
  EXPECT_EQ(scales.size(), 11u);
  EXPECT_EQ(crops.size(), 3u);
  for (const auto& [side, count] : scales) EXPECT_NEAR(count, kDraws / 11, 5 * 19) << side;
}

// A rectangle in an image is where its box says it is, whatever was drawn.
TEST(DetectionTransform, KeepsBoxesMasksAndPixelsTogether) {
  DetectionTransformOptions options = DetectionTransformOptions::multi_scale();
  options.scales = {{160, 100}, {160, 120}};
  options.crop_scales = {{160, 90}};
  options.least_crop = 60;
  options.most_crop = 80;
  for (const bool mirror_first : {false, true}) {
    options.mirror_first = mirror_first;
    const DetectionTransform transform(options, {{0, 0, 0}, {1, 1, 1}});
    int seen = 0;
    for (uint64_t i = 0; i < 60; ++i) {
      at::Tensor pixels = at::zeros({80, 120, 3}, at::kByte);
      pixels.narrow(0, 20, 30).narrow(1, 50, 40).fill_(255);
      DetectionObjects objects;
      objects.boxes.push_back({50, 20, 90, 50});
      objects.labels.push_back(0);
      objects.masks.push_back(
          geometry::rasterized(std::vector<geometry::Polygon>{{50, 20, 90, 20, 90, 50, 50, 50}}, Size{80, 120}));
      const DetectionSample sample = transform.apply(pixels, objects, transform.draw({5, 0, i}));
      ASSERT_EQ(sample.pixels.size(1), sample.resized.height);
      ASSERT_EQ(sample.pixels.size(2), sample.resized.width);
      if (sample.objects.size() == 0) continue;
      ++seen;
      const auto mask = sample.objects.masks[0];
      ASSERT_EQ(mask.size(), sample.resized);
      const Box box = sample.objects.boxes[0], of_mask = corners(mask.box());
      // Nearest neighbours are rounded down: by a pixel the first time, which the second resizing makes two, and once
      // more.
      EXPECT_NEAR(box.left, of_mask.left, 3);
      EXPECT_NEAR(box.top, of_mask.top, 3);
      EXPECT_NEAR(box.right, of_mask.right, 3);
      EXPECT_NEAR(box.bottom, of_mask.bottom, 3);
      const auto bits = mask.bitmap();
      const at::Tensor bitmap = at::tensor(bits, at::kByte).view({sample.resized.height, sample.resized.width});
      const at::Tensor bright = sample.pixels[0].gt(0.5).to(at::kByte);
      const double differ = bright.ne(bitmap).sum().item<double>();
      EXPECT_LE(differ, 4.0 * (box.width() + box.height() + 4)) << i;  // a border of three pixels, here and there
    }
    EXPECT_GT(seen, 30);
  }
}

TEST(DetectionTransform, RefusesOptionsThatMakeNoSense) {
  const auto refusal = [](const DetectionTransformOptions& options, const Normalization& normalization) {
    return thrown_message<std::invalid_argument>([&] { DetectionTransform(options, normalization); });
  };
  EXPECT_EQ(
      refusal({.scales = {}}, kImageNet),
      "a detector needs at least one scale, and the longer side of each scale must not be below its shorter side");
  EXPECT_EQ(
      refusal({.scales = {{3, 4}}}, kImageNet),
      "a detector needs at least one scale, and the longer side of each scale must not be below its shorter side");
  EXPECT_EQ(refusal({.crop_share = 1}, kImageNet), "to crop images, crop_short_sides must have at least one scale");
  EXPECT_EQ(
      refusal({.multiple = 0}, kImageNet),
      "the minimum side of a crop and the padding multiple must be at least 1, and the minimum side of a crop must "
      "not be above the maximum side");
  EXPECT_EQ(refusal({}, {{0}, {1}}),
            "the mean and std of a detector must have three values, because its images have three channels");
}

TEST(DetectionTransform, ReadsItsKeys) {
  const auto read = [](const std::string& text) {
    config::Document document = config::Document::from_text(text, "x.toml");
    const auto options = read_detection_transform(document.root());
    document.finish();
    return options;
  };
  EXPECT_EQ(read("").scales, (std::vector<ScaleLimit>{{1333, 800}}));
  EXPECT_EQ(read("scales = 'multi'").crop_scales.size(), 3u);
  const auto options =
      read("long_side = 320\nshort_sides = [192, 224]\nmirror = 0\npad_multiple = 16\ncrop_sides = [10, 20]");
  EXPECT_EQ(options.scales, (std::vector<ScaleLimit>{{320, 192}, {320, 224}}));
  EXPECT_EQ(options.mirror, 0);
  EXPECT_EQ(options.multiple, 16);
  EXPECT_EQ(options.most_crop, 20);
  for (const char* text :
       {"scales = 'many'", "short_sides = []", "crop_share = 0.5", "crop_sides = [20, 10]", "mirror = 2"})
    EXPECT_NE(thrown_message<std::exception>([&] { read(text); }), "(nothing thrown)") << text;
  EXPECT_NE(thrown_message<config::Error>([&] {
              read("short_sides = []");
            }).find("short_sides: takes 1 to 1000 integers, not 0"),
            std::string::npos);
  config::Document document = config::Document::from_text("short_sides = []", "x.toml");
  EXPECT_EQ(read_detection_transform(document.root()).for_evaluation().scales.size(), 1u)
      << "readers go on after a problem, with the default";
}

}  // namespace
}  // namespace cachet::data
