#include "cachet/metrics/coco_evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "tests/metrics/coco_fixture.h"
#include "tests/support/thrown_message.h"

namespace cachet::metrics {
namespace {

using geometry::RunLengths;
using test::coco_fixture;
using test::CocoFixture;
using test::thrown_message;
using test::verdicts_of;

void expect_equal(const CocoResult& a, const CocoResult& b) {
  EXPECT_EQ(a.numbers.values(), b.numbers.values());
  ASSERT_EQ(a.categories.size(), b.categories.size());
  for (size_t i = 0; i < a.categories.size(); ++i) {
    EXPECT_EQ(a.categories[i].ap, b.categories[i].ap);
    EXPECT_EQ(a.categories[i].precision, b.categories[i].precision);
  }
}

class CocoEvaluation : public ::testing::TestWithParam<OverlapKind> {};

TEST_P(CocoEvaluation, HasTheNumbersOfPycocotools) {
  const auto oracle = test::json_oracle("coco_eval.json");
  const CocoFixture data = coco_fixture(oracle, GetParam());
  const auto& expected = oracle["expected"][GetParam() == OverlapKind::masks ? "segm" : "bbox"];
  const CocoResult result = summarize(verdicts_of(data, GetParam()), static_cast<int32_t>(data.categories.size()));
  const auto numbers = result.numbers.values();
  double largest = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_NEAR(numbers[i], expected["stats"][i], 1e-9) << "number " << i;
    largest = std::max(largest, std::abs(numbers[i] - expected["stats"][i].get<double>()));
  }
  for (size_t i = 0; i < data.categories.size(); ++i) {
    const double ap = expected["ap_by_category"][std::to_string(data.categories[i])];
    EXPECT_NEAR(result.categories[i].ap, ap, 1e-9);
    largest = std::max(largest, std::abs(result.categories[i].ap - ap));
  }
  RecordProperty("largest_error", std::to_string(largest * 1e12) + "e-12");
  // The curve that AP at 0.5 is the mean of.
  const auto curve = result.precision_curve(0);
  ASSERT_EQ(curve.size(), static_cast<size_t>(kRecallSteps));
  double mean = 0;
  for (const double precision : curve) mean += precision / kRecallSteps;
  EXPECT_NEAR(mean, result.numbers.ap50, 1e-12);
}

TEST_P(CocoEvaluation, DependsNeitherOnThreadsNorOnTheOrderOfImages) {
  const CocoFixture data = coco_fixture(test::json_oracle("coco_eval.json"), GetParam());
  const auto categories = static_cast<int32_t>(data.categories.size());
  std::vector<ImageVerdicts> one = verdicts_of(data, GetParam(), 1);
  const std::vector<ImageVerdicts> many = verdicts_of(data, GetParam(), 5);
  EXPECT_EQ(one, many);
  const CocoResult result = summarize(one, categories, 1);
  expect_equal(result, summarize(many, categories, 7));
  std::reverse(one.begin(), one.end());
  expect_equal(result, summarize(one, categories, 2));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CocoEvaluation, ::testing::Values(OverlapKind::boxes, OverlapKind::masks),
                         [](const auto& info) { return info.param == OverlapKind::boxes ? "boxes" : "masks"; });

TrueObject truth_at(double x, double side = 10, int32_t category = 0) {
  return {.category = category, .box = {x, 0, side, side}, .area = side * side};
}

DetectedObject seen_at(double x, double score, double side = 10, int32_t category = 0) {
  return {.category = category, .box = {x, 0, side, side}, .score = score};
}

CocoNumbers numbers_of(const std::vector<TrueObject>& truths, const std::vector<DetectedObject>& detections) {
  const std::vector<ImageVerdicts> images{match_image(1, truths, detections, OverlapKind::boxes)};
  return summarize(images, 1).numbers;
}

TEST(CocoNumbersOf, NothingAreMinusOne) {
  const std::vector<ImageVerdicts> none;
  for (const double number : summarize(none, 3).numbers.values()) EXPECT_EQ(number, -1);
  for (const double number : numbers_of({}, {seen_at(0, 0.5)}).values()) EXPECT_EQ(number, -1);
  EXPECT_TRUE(summarize(none, 3).precision_curve(0).empty());
  EXPECT_TRUE(summarize(none, 0).categories.empty());
}

TEST(CocoNumbersOf, ATruthThatNobodySawAreZeroWhereItCounts) {
  const CocoNumbers numbers = numbers_of({truth_at(0)}, {});
  EXPECT_EQ(numbers.ap, 0);
  EXPECT_EQ(numbers.ar100, 0);
  EXPECT_EQ(numbers.ap_small, 0);
  EXPECT_EQ(numbers.ap_medium, -1);
  EXPECT_EQ(numbers.ap_large, -1);
}

TEST(CocoNumbersOf, ATruthThatWasSeenTwiceCountOnce) {
  const CocoNumbers numbers = numbers_of({truth_at(0)}, {seen_at(0, 0.5), seen_at(0, 0.9)});
  EXPECT_NEAR(numbers.ap, 1, 1e-15);  // the miss stands after the hit
  EXPECT_EQ(numbers.ar1, 1);
  const CocoNumbers late = numbers_of({truth_at(0)}, {seen_at(50, 0.95), seen_at(0, 0.9)});
  EXPECT_NEAR(late.ap, 0.5, 1e-15);
  EXPECT_EQ(late.ar1, 0);
  EXPECT_EQ(late.ar10, 1);
}

TEST(CocoNumbersOf, EqualScoresRankAsTheyCome) {
  EXPECT_NEAR(numbers_of({truth_at(0)}, {seen_at(0, 0.9), seen_at(50, 0.9)}).ap, 1, 1e-15);
  EXPECT_NEAR(numbers_of({truth_at(0)}, {seen_at(50, 0.9), seen_at(0, 0.9)}).ap, 0.5, 1e-15);
  // Of two images, the one with the lower id comes first.
  const auto hit = [](int64_t image) {
    const std::vector<TrueObject> truths{truth_at(0)};
    const std::vector<DetectedObject> detections{seen_at(0, 0.5)};
    return match_image(image, truths, detections, OverlapKind::boxes);
  };
  const auto miss = [](int64_t image) {
    const std::vector<DetectedObject> detections{seen_at(0, 0.5)};
    return match_image(image, {}, detections, OverlapKind::boxes);
  };
  EXPECT_NEAR(summarize(std::vector{hit(1), miss(2)}, 1).numbers.ap, 1, 1e-15);
  EXPECT_NEAR(summarize(std::vector{hit(2), miss(1)}, 1).numbers.ap, 0.5, 1e-15);
}

TEST(CocoNumbersOf, ACrowdTakeDetectionsInWithoutCountingThem) {
  TrueObject crowd = truth_at(100, 60);
  crowd.crowd = true;
  const std::vector<DetectedObject> detections{seen_at(100, 0.9), seen_at(110, 0.8), seen_at(0, 0.7)};
  EXPECT_NEAR(numbers_of({truth_at(0), crowd}, detections).ap, 1, 1e-15);
  TrueObject ignored = truth_at(100);
  ignored.ignored = true;  // takes one in: the second is a miss before the hit
  EXPECT_NEAR(numbers_of({truth_at(0), ignored}, {seen_at(100, 0.9), seen_at(100, 0.8), seen_at(0, 0.7)}).ap, 0.5,
              1e-15);
}

TEST(CocoNumbersOf, AnImageBearOnItsBestHundredDetections) {
  std::vector<DetectedObject> detections;
  for (int i = 0; i < 100; ++i) detections.push_back(seen_at(50, 0.9));
  detections.push_back(seen_at(0, 0.1));
  EXPECT_EQ(numbers_of({truth_at(0)}, detections).ar100, 0);
  detections.erase(detections.begin());
  EXPECT_EQ(numbers_of({truth_at(0)}, detections).ar100, 1);
}

TEST(CocoNumbersOf, AreasAreSplitAt32And96) {
  for (const auto& [side, small, medium, large] :
       {std::tuple{32.0, 1, 1, -1}, {32.5, -1, 1, -1}, {96.0, -1, 1, 1}, {97.0, -1, -1, 1}}) {
    const CocoNumbers numbers = numbers_of({truth_at(0, side)}, {seen_at(0, 0.5, side)});
    EXPECT_NEAR(numbers.ap_small, small, 1e-15) << side;
    EXPECT_NEAR(numbers.ap_medium, medium, 1e-15) << side;
    EXPECT_NEAR(numbers.ap_large, large, 1e-15) << side;
  }
}

TEST(CocoMatching, ObjectsWithoutAMaskCountAsBoxesOnly) {
  std::vector<TrueObject> truths{truth_at(0), truth_at(100)};
  const RunLengths mask({10, 10}, std::vector<uint32_t>{0, 100});
  truths[0].mask = mask;
  std::vector<DetectedObject> detections{seen_at(0, 0.9), seen_at(100, 0.8)};
  for (DetectedObject& detection : detections) detection.mask = mask;
  const auto truths_counted = [&](OverlapKind kind) {
    return match_image(7, truths, detections, kind).categories.at(0).truths[0];
  };
  EXPECT_EQ(truths_counted(OverlapKind::boxes), 2);
  EXPECT_EQ(truths_counted(OverlapKind::masks), 1);
}

TEST(CocoMatching, RefusesWhatCannotBe) {
  const std::vector<DetectedObject> detections{seen_at(0, std::nan(""))};
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { match_image(7, {}, detections, OverlapKind::boxes); }),
            "image 7: the score of a detection must be finite, not nan");
  const std::vector<TrueObject> truths{{.mask = RunLengths({2, 3}, std::vector<uint32_t>{0, 6})}};
  const std::vector<DetectedObject> other{{.score = 1, .mask = RunLengths({3, 2}, std::vector<uint32_t>{0, 6})}};
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { match_image(7, truths, other, OverlapKind::masks); }),
            "masks of 3 × 2 and 2 × 3 pixels cannot be compared");
  const ImageVerdicts image = match_image(7, truths, {}, OverlapKind::boxes);
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] {
              summarize(std::vector{image, image}, 1);
            }),
            "image 7 was evaluated twice");
  EXPECT_EQ(thrown_message<std::invalid_argument>([&] { summarize(std::vector{image}, 0); }),
            "image 7 has an object of category 0, but the number of categories is 0");
  EXPECT_EQ(thrown_message<std::runtime_error>([] {
              match_images(
                  3, [](int64_t i) -> std::pair<int64_t, ImageObjects> { throw std::runtime_error(std::to_string(i)); },
                  OverlapKind::boxes, 2);
            }),
            "0");
}

}  // namespace
}  // namespace cachet::metrics
