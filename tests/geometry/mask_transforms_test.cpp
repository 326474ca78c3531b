#include "cachet/geometry/mask_transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "tests/support/coco_json.h"

namespace cachet::geometry {
namespace {

// The pixel of the result at (y, x) as a function of the mask's pixels.
using Rule = std::function<uint8_t(const std::function<uint8_t(int64_t, int64_t)>&, int64_t, int64_t)>;

void expect_rule(const RunLengths& mask, const RunLengths& result, const Size& size, const Rule& rule) {
  const auto pixels = mask.bitmap();
  const auto at = [&](int64_t y, int64_t x) -> uint8_t {
    if (y < 0 || x < 0 || y >= mask.size().height || x >= mask.size().width) return 0;
    return pixels[static_cast<size_t>(y * mask.size().width + x)];
  };
  std::vector<uint8_t> expected;
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) expected.push_back(rule(at, y, x));
  }
  EXPECT_EQ(result, RunLengths::of_bitmap(size, expected));
}

RunLengths random_mask(const Size& size, std::mt19937& random) {
  std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width));
  std::bernoulli_distribution switches(0.2);
  uint8_t now = 0;
  for (uint8_t& pixel : pixels) pixel = now = switches(random) ? !now : now;
  return RunLengths::of_bitmap(size, pixels);
}

TEST(MaskTransforms, AreThoseOfBitmaps) {
  std::mt19937 random(3);
  for (const Size& size : {Size{1, 1}, {5, 9}, {24, 17}}) {
    for (int round = 0; round < 10; ++round) {
      const RunLengths mask = random_mask(size, random);
      const int64_t h = size.height, w = size.width;
      expect_rule(mask, mirrored(mask), size, [&](auto at, int64_t y, int64_t x) { return at(y, w - 1 - x); });
      expect_rule(mask, flipped(mask), size, [&](auto at, int64_t y, int64_t x) { return at(h - 1 - y, x); });
      for (const auto& [top, left] :
           {std::pair<int64_t, int64_t>{0, 0}, {3, 2}, {-4, 5}, {2, -7}, {100, 0}, {0, -100}}) {
        const Size window{7, 11};
        expect_rule(mask, windowed(mask, top, left, window), window,
                    [&](auto at, int64_t y, int64_t x) { return at(y + top, x + left); });
      }
      for (const Size& to : {Size{1, 1}, {3, 4}, {24, 17}, {50, 41}}) {
        const auto nearest = [](int64_t i, int64_t from, int64_t to_side) {
          const double step = 1 / (static_cast<double>(to_side) / static_cast<double>(from));
          return std::min(static_cast<int64_t>(std::floor(static_cast<double>(i) * step)), from - 1);
        };
        expect_rule(mask, resized(mask, to), to, [&](auto at, int64_t y, int64_t x) {
          return at(nearest(y, h, to.height), nearest(x, w, to.width));
        });
      }
    }
  }
}

TEST(MaskTransforms, AreThoseOfMmdetection) {
  const auto oracle = test::json_oracle("det_pipeline.json");
  for (const auto& image : oracle["images"]) {
    const Size shape{image["img_shape"][0], image["img_shape"][1]},
        padded{image["pad_shape"][0], image["pad_shape"][1]};
    for (size_t i = 0; i < image["masks"].size(); ++i) {
      RunLengths mask = resized(test::mask_of(image["masks"][i]), shape);
      EXPECT_EQ(mask, test::mask_of(image["masks_resized"][i]));
      if (image["flip"] == "horizontal") mask = mirrored(mask);
      if (image["flip"] == "vertical") mask = flipped(mask);
      EXPECT_EQ(windowed(mask, 0, 0, padded), test::mask_of(image["masks_padded"][i]));
    }
  }
  for (const auto& crop : oracle["crops"]) {
    const Size shape{crop["img_shape"][0], crop["img_shape"][1]};
    for (size_t i = 0; i < crop["kept"].size(); ++i) {
      const Polygon polygon = crop["polygons"][crop["kept"][i].get<size_t>()];
      const RunLengths mask = rasterized(std::span<const double>(polygon), Size{crop["h"], crop["w"]});
      EXPECT_EQ(windowed(mask, crop["draws"][2]["value"], crop["draws"][3]["value"], shape),
                test::mask_of(crop["masks_cropped"][i]));
    }
  }
}

}  // namespace
}  // namespace cachet::geometry
