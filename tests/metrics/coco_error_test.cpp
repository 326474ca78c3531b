#include "cachet/metrics/coco_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

#include "tests/metrics/coco_fixture.h"
#include "tests/support/thrown_message.h"

namespace cachet::metrics {
namespace {

using test::thrown_message;

// Up to the highest threshold that a detection reaches it is a hit; of a few, a match with what counts neither way.
std::vector<ImageVerdicts> drawn_images(size_t count, int32_t categories, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<ImageVerdicts> images(count);
  for (size_t i = 0; i < count; ++i) {
    images[i].image = static_cast<int64_t>(10 * i + 5);
    for (int32_t c = 0; c < categories; ++c) {
      if (random() % 3 == 0) continue;
      CategoryVerdicts verdicts{c, {}, static_cast<int64_t>(random() % 6)};
      verdicts.truths[0] = static_cast<int32_t>(random() % 4);
      double score = 1;
      int32_t hits = 0;
      for (int64_t d = 0; d < verdicts.detections; ++d) {
        score -= 0.001 + 0.15 * static_cast<double>(random()) / 4294967296.0;
        DetectionVerdict detection{score, {}, {}};
        if (random() % 8 == 0)
          detection.ignored[0] = 1023;
        else if (hits < verdicts.truths[0] && random() % 2 == 0 && ++hits > 0)
          detection.matched[0] = static_cast<uint16_t>((1U << (1 + random() % 10)) - 1);
        images[i].detections.push_back(detection);
      }
      images[i].categories.push_back(verdicts);
    }
  }
  return images;
}

/// The same set with each image so many times, under ids that keep the order.
std::vector<ImageVerdicts> with_copies(const std::vector<ImageVerdicts>& images, const std::vector<uint32_t>& times) {
  std::vector<ImageVerdicts> copies;
  for (size_t i = 0; i < images.size(); ++i) {
    for (uint32_t copy = 0; copy < times[i]; ++copy) {
      copies.push_back(images[i]);
      copies.back().image += copy;
    }
  }
  return copies;
}

class AveragePrecisionOfOracle : public ::testing::TestWithParam<OverlapKind> {};

TEST_P(AveragePrecisionOfOracle, OfEachImageOnceIsCocos) {
  const test::CocoFixture data = test::coco_fixture(test::json_oracle("coco_eval.json"), GetParam());
  const auto categories = static_cast<int32_t>(data.categories.size());
  const std::vector<ImageVerdicts> images = test::verdicts_of(data, GetParam());
  const std::vector<uint32_t> once(images.size(), 1);
  EXPECT_EQ(average_precision(images, categories, once), summarize(images, categories).numbers.ap);
  EXPECT_GT(average_precision_error(images, categories).value(), 0);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AveragePrecisionOfOracle, ::testing::Values(OverlapKind::boxes, OverlapKind::masks),
                         [](const auto& info) { return info.param == OverlapKind::boxes ? "boxes" : "masks"; });

TEST(AveragePrecision, OfSeveralTimesAnImageIsThatOfItsCopies) {
  std::mt19937 random(2);
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<ImageVerdicts> images = drawn_images(30, 4, seed);
    EXPECT_EQ(average_precision(images, 4, std::vector<uint32_t>(30, 1)), summarize(images, 4).numbers.ap) << seed;
    std::vector<uint32_t> times(images.size());
    for (uint32_t& each : times) each = static_cast<uint32_t>(random() % 4);
    EXPECT_EQ(average_precision(images, 4, times), summarize(with_copies(images, times), 4).numbers.ap) << seed;
  }
}

TEST(AveragePrecision, OfNothingIsMinusOne) {
  const std::vector<ImageVerdicts> images = drawn_images(5, 2, 1);
  EXPECT_EQ(average_precision(images, 2, std::vector<uint32_t>(5, 0)), -1);
  EXPECT_EQ(average_precision({}, 2, {}), -1);
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { average_precision(images, 2, std::vector<uint32_t>(4, 1)); }),
            "4 counts were given, but each image needs one count; the number of images is 5");
}

/// One truth, found or not.
ImageVerdicts image_of(int64_t id, bool found) {
  ImageVerdicts image{id, {{0, {1, 0, 0, 0}, found ? 1 : 0}}, {}};
  if (found) image.detections.push_back({0.5, {1023, 0, 0, 0}, {}});
  return image;
}

// A set drawn of an image whose object is found and of one whose object is not has AP 1, 0 or, in half of the cases, 51
// of 101 recalls: 0.505. These deviate by 0.3536; the deviation of 100 of them is known to less than 7 %.
TEST(AveragePrecisionError, OfTwoImagesIsThatOfThreeNumbers) {
  const std::vector<ImageVerdicts> images{image_of(1, true), image_of(2, false)};
  EXPECT_NEAR(average_precision_error(images, 1).value(), 0.3536, 4 * 0.07 * 0.3536);
}

TEST(AveragePrecisionError, OfEqualImagesIsNothing) {
  std::vector<ImageVerdicts> images = with_copies(drawn_images(1, 9, 3), {10});
  ASSERT_GT(summarize(images, 9).numbers.ap, 0);
  EXPECT_EQ(average_precision_error(images, 9), 0.0);
  images.resize(1);
  EXPECT_FALSE(average_precision_error(images, 9));
  EXPECT_FALSE(average_precision_error({}, 9));
  const std::vector<ImageVerdicts> empty{{1, {}, {}}, {2, {}, {}}};
  EXPECT_FALSE(average_precision_error(empty, 9)) << "there is no object";
}

// Four times as many images, half the error: a ratio of two deviations of 100 is known to 10 %.
TEST(AveragePrecisionError, FallsWithTheRootOfTheImages) {
  const std::vector<ImageVerdicts> images = drawn_images(60, 4, 4);
  const std::vector<ImageVerdicts> more = with_copies(images, std::vector<uint32_t>(60, 4));
  const double ratio = average_precision_error(images, 4).value() / average_precision_error(more, 4).value();
  EXPECT_NEAR(ratio, 2, 2 * 4 * 0.1);
}

TEST(AveragePrecisionError, DependsNeitherOnThreadsNorOnTheOrderOfImages) {
  std::vector<ImageVerdicts> images = drawn_images(40, 5, 5);
  const auto error = average_precision_error(images, 5);
  EXPECT_EQ(average_precision_error(images, 5, 3), error);
  std::ranges::reverse(images);
  EXPECT_EQ(average_precision_error(images, 5, 2), error);
}

}  // namespace
}  // namespace cachet::metrics
