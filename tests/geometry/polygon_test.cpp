#include "cachet/geometry/polygon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/coco_json.h"
#include "tests/support/thrown_message.h"

namespace cachet::geometry {
namespace {

using test::thrown_message;

std::string refusal(const Polygon& polygon, const Size& image) {
  return thrown_message<std::invalid_argument>([&] { rasterized(std::span<const double>(polygon), image); });
}

RunLengths rasterized_alone(const Polygon& polygon, const Size& image) {
  return rasterized(std::span<const double>(polygon), image);
}

TEST(Polygon, BecomesThePixelsOfPycocotools) {
  const auto oracle = test::json_oracle("coco_eval.json");
  size_t polygons = 0;
  for (const auto& entry : oracle["masks"]) {
    const Size size = test::mask_of(entry["rle"]).size();
    EXPECT_EQ(test::mask_of(entry["polygons"], size).text(), entry["rle"]["counts"]);
    ++polygons;
  }
  EXPECT_EQ(polygons, 12u);
  const auto pipeline = test::json_oracle("det_pipeline.json");
  for (const auto& image : pipeline["images"]) {
    const Size size{image["h"], image["w"]};
    for (size_t i = 0; i < image["polygons"].size(); ++i) {
      const Polygon polygon = image["polygons"][i];
      EXPECT_EQ(rasterized_alone(polygon, size), test::mask_of(image["masks"][i]));
      ++polygons;
    }
  }
  EXPECT_GT(polygons, 20u);
}

TEST(Polygon, OfWholePixelsHasTheseAndNoOther) {
  const RunLengths mask = rasterized_alone({1, 2, 4, 2, 4, 5, 1, 5}, {6, 7});
  EXPECT_EQ(mask.box(), (SizedBox{1, 2, 3, 3}));
  EXPECT_EQ(mask.area(), 9);
  const RunLengths whole = rasterized_alone({0, 0, 7, 0, 7, 6, 0, 6}, {6, 7});
  EXPECT_EQ(whole.area(), 42);
  const RunLengths beyond = rasterized_alone({-100, -100, 100, -100, 100, 100, -100, 100}, {6, 7});
  EXPECT_EQ(beyond.area(), 42);
}

TEST(Polygon, WithoutAreaHasNoPixels) {
  for (const Polygon& polygon : {Polygon{3, 3},
                                 {1, 1, 5, 4},
                                 {1, 1, 5, 4, 1, 1},
                                 {2, 2, 2, 2, 2, 2},
                                 {1, 0, 1, 5, 1, 3},
                                 {20, 20, 30, 20, 30, 30}})
    EXPECT_TRUE(rasterized_alone(polygon, {6, 7}).empty());
}

// The definition itself, point by point as COCO describes it, without the shortcuts.
RunLengths rasterized_slowly(const Polygon& polygon, const Size& image) {
  std::vector<std::pair<int64_t, int64_t>> points;
  const size_t corners = polygon.size() / 2;
  const auto fifths = [&](size_t i) { return static_cast<int64_t>(5 * polygon[i] + .5); };
  for (size_t i = 0; i < corners; ++i) {
    const size_t next = (i + 1) % corners;
    int64_t x0 = fifths(2 * i), y0 = fifths(2 * i + 1), x1 = fifths(2 * next), y1 = fifths(2 * next + 1);
    const int64_t dx = std::abs(x1 - x0), dy = std::abs(y1 - y0), steps = std::max(dx, dy);
    const bool backwards = dx >= dy ? x0 > x1 : y0 > y1;
    if (backwards) {
      std::swap(x0, x1);
      std::swap(y0, y1);
    }
    for (int64_t d = 0; d <= steps; ++d) {
      const int64_t t = backwards ? steps - d : d;
      if (dx >= dy) {
        const double slope = dx > 0 ? static_cast<double>(y1 - y0) / static_cast<double>(dx) : 0;
        points.emplace_back(t + x0,
                            static_cast<int64_t>(static_cast<double>(y0) + slope * static_cast<double>(t) + .5));
      } else {
        const double slope = static_cast<double>(x1 - x0) / static_cast<double>(dy);
        points.emplace_back(static_cast<int64_t>(static_cast<double>(x0) + slope * static_cast<double>(t) + .5),
                            t + y0);
      }
    }
  }
  std::vector<uint8_t> enters(static_cast<size_t>(image.height * image.width + 1), 0);
  for (size_t i = 1; i < points.size(); ++i) {
    if (points[i].first == points[i - 1].first) continue;
    const int64_t x = std::min(points[i].first, points[i - 1].first);
    if (x < 2 || (x - 2) % 5 != 0 || (x - 2) / 5 >= image.width) continue;
    const double y = (static_cast<double>(std::min(points[i].second, points[i - 1].second)) + .5) / 5 - .5;
    const auto row = static_cast<int64_t>(std::ceil(std::min(std::max(y, 0.0), static_cast<double>(image.height))));
    enters[static_cast<size_t>((x - 2) / 5 * image.height + row)] ^= 1;
  }
  std::vector<uint32_t> counts{0};
  for (int64_t p = 0; p < image.height * image.width; ++p) {
    if (enters[static_cast<size_t>(p)] != 0) counts.push_back(0);
    ++counts.back();
  }
  return {image, counts};
}

TEST(Polygon, BecomesThePixelsOfTheDefinition) {
  uint64_t state = 3;
  const auto draw = [&](int64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>(state >> 33) % bound;
  };
  for (int round = 0; round < 3000; ++round) {
    const Size image{1 + draw(60), 1 + draw(60)};
    Polygon polygon;
    const int64_t corners = 1 + draw(12);
    for (int64_t i = 0; i < corners; ++i) {
      polygon.push_back(static_cast<double>(draw(9000) - 1500) / 100);
      polygon.push_back(static_cast<double>(draw(9000) - 1500) / 100);
    }
    ASSERT_EQ(rasterized_alone(polygon, image), rasterized_slowly(polygon, image)) << "round " << round;
  }
}

TEST(Polygon, IsMirroredAndFlipped) {
  const auto flips = test::json_oracle("det_pipeline.json")["polygon_flips"];
  for (size_t i = 0; i < flips["polygons"].size(); ++i) {
    for (size_t k = 0; k < flips["polygons"][i].size(); ++k) {
      const Polygon polygon = flips["polygons"][i][k];
      const Polygon across = flips["horizontal"][i][k], down = flips["vertical"][i][k];
      ASSERT_EQ(polygon.size(), across.size());
      for (size_t n = 0; n < polygon.size(); ++n) {
        EXPECT_NEAR(mirrored(polygon, flips["w"])[n], across[n], 1e-9 * 100);
        EXPECT_NEAR(flipped(polygon, flips["h"])[n], down[n], 1e-9 * 100);
      }
    }
  }
}

TEST(Polygon, IsRefusedWhereItIsNone) {
  const Size image{6, 7};
  EXPECT_EQ(refusal({}, image), "a polygon has 0 coordinates, but it must have an x and a y for each corner");
  EXPECT_EQ(refusal({1, 2, 3}, image), "a polygon has 3 coordinates, but it must have an x and a y for each corner");
  EXPECT_EQ(refusal({1, std::nan(""), 3, 4}, image),
            "a corner of a polygon has the coordinate nan, but at most 67108864 is possible");
  EXPECT_EQ(refusal({1, 2, -std::numeric_limits<double>::infinity(), 4}, image),
            "a corner of a polygon has the coordinate -inf, but at most 67108864 is possible");
  EXPECT_EQ(refusal({1, 2, 1e9, 4}, image),
            "a corner of a polygon has the coordinate 1000000000.000000, but at most 67108864 is possible");
  EXPECT_EQ(refusal({1, 2, 3, 4, 5, 6}, {0, 7}),
            "a mask cannot have 0 × 7 pixels; it must have 1 to 2147483647 pixels");
  Polygon to_and_fro;
  for (int i = 0; i < 4000; ++i) to_and_fro.insert(to_and_fro.end(), {i % 2 == 0 ? 0.0 : 10000.0, 1.0});
  EXPECT_EQ(refusal(to_and_fro, {10, 10000}),
            "the edges of a polygon must not pass columns of pixels more than 16777216 times");
}

}  // namespace
}  // namespace cachet::geometry
