#include "cachet/tasks/detection/found_object.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cachet/tasks/detection/coco_table.h"
#include "cachet/tasks/detection/detection_evaluation.h"
#include "cachet/tasks/detection/stroke_text.h"

namespace cachet::tasks {
namespace {

using geometry::RunLengths;

const std::vector<std::string> kNames{"cat", "dog"};

FoundObjects sample_objects() {
  FoundObjects found{3, 103, {}, {}};
  found.objects.push_back({1, 0.75, {1, 2, 4, 6}, RunLengths({8, 9}, std::vector<uint32_t>{10, 4, 4, 4, 50})});
  found.objects.push_back({0, 0.5, {0, 0, 9, 8}, std::nullopt});
  return found;
}

TEST(FoundObjects, GoThroughALineUnchanged) {
  const FoundObjects found = sample_objects();
  const std::string line = to_json_line(found, kNames);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["detections"][0]["class"], "dog");
  EXPECT_EQ(json["detections"][0]["bbox"], (nlohmann::json{1.0, 2.0, 3.0, 4.0}));
  const auto again = found_objects_from_json(line);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->image_id, 103);
  EXPECT_EQ(to_json_line(*again, kNames), line);
  for (const char* none : {"", "{}", "[]", R"({"index": 1.5, "detections": []})",
                           R"({"index": 1, "detections": [{"label": 1e40, "score": 1, "bbox": [1, 2, 3, 4]}]})",
                           R"({"index": 1, "detections": [{"label": 1}]})",
                           R"({"index": 1, "detections": [{"label": 1, "score": 1, "bbox": [1, 2, 3, 4],
                               "segmentation": {"size": [2, 2], "counts": "9"}}]})"})
    EXPECT_FALSE(found_objects_from_json(none).has_value()) << none;
}

TEST(FoundObjects, AreWrittenAsCocoResults) {
  const auto results = nlohmann::json::parse(
      coco_results({sample_objects(), {7, std::nullopt, "a.png", {{0, 1, {0, 0, 1, 1}, {}}}}}, {20, 30}));
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["category_id"], 30);
  EXPECT_EQ(results[0]["image_id"], 103);
  EXPECT_EQ(results[0]["segmentation"]["size"], (nlohmann::json{8, 9}));
  EXPECT_EQ(results[2]["image_id"], 7);
}

TEST(FoundObjects, SayWhyThereIsNothing) {
  const std::string line = to_json_line({4, 7, {}, {}, "x.png: is torn"}, kNames);
  EXPECT_EQ(line, "{\"index\":4,\"image_id\":7,\"error\":\"x.png: is torn\"}\n");
  const auto again = found_objects_from_json(line);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->problem, "x.png: is torn");
  EXPECT_TRUE(again->objects.empty());
}

TEST(FoundObjects, DamagedLinesAreNoneOrOthers) {
  const std::string line = to_json_line(sample_objects(), kNames);
  int64_t read = 0;
  for (size_t place = 0; place < line.size(); ++place) {
    found_objects_from_json(line.substr(0, place));
    for (const char letter : {'0', '9', '-', '"', '}', '\xff'}) {
      std::string damaged = line;
      damaged[place] = letter;
      const auto found = found_objects_from_json(damaged);
      if (!found) continue;
      ++read;
      for (const FoundObject& object : found->objects) EXPECT_TRUE(std::isfinite(object.score));
    }
  }
  EXPECT_GT(read, 0);
}

TEST(CocoTable, IsThatOfPycocotools) {
  DetectionEvaluation evaluation;
  evaluation.boxes.numbers = {0.4, 1, -1, 0, 0.12345, 0.9996, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7};
  const std::string table = coco_table(evaluation);
  EXPECT_EQ(table, R"(IoU metric: bbox
 Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.400
 Average Precision  (AP) @[ IoU=0.50      | area=   all | maxDets=100 ] = 1.000
 Average Precision  (AP) @[ IoU=0.75      | area=   all | maxDets=100 ] = -1.000
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.000
 Average Precision  (AP) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ] = 0.123
 Average Precision  (AP) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = 1.000
 Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=  1 ] = 0.100
 Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets= 10 ] = 0.200
 Average Recall     (AR) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.300
 Average Recall     (AR) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = 0.500
 Average Recall     (AR) @[ IoU=0.50:0.95 | area=medium | maxDets=100 ] = 0.600
 Average Recall     (AR) @[ IoU=0.50:0.95 | area= large | maxDets=100 ] = 0.700
)");
  evaluation.masks = evaluation.boxes;
  EXPECT_NE(coco_table(evaluation).find("IoU metric: segm\n"), std::string::npos);
}

TEST(CocoTable, TellsTheErrorOfApBehindItsRows) {
  DetectionEvaluation evaluation;
  evaluation.boxes.numbers = {0.4, 1, -1, 0, 0.12345, 0.9996, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7};
  const std::string rows = coco_table(evaluation);
  evaluation.boxes.ap_error = 0.01234;
  EXPECT_EQ(coco_table(evaluation), rows + "AP and its standard error over the images: bbox 0.400 ± 0.012\n");
  evaluation.masks = evaluation.boxes;
  evaluation.masks->ap_error = 0.02;
  EXPECT_TRUE(coco_table(evaluation).ends_with(": bbox 0.400 ± 0.012, segm 0.400 ± 0.020\n"));
}

std::vector<metrics::TrueObject> two_truths() {
  return {{.category = 0, .box = {0, 0, 10, 10}, .area = 100}, {.category = 1, .box = {40, 0, 10, 10}, .area = 100}};
}

TEST(DetectionTally, CountsWhatWasFoundAsWhat) {
  DetectionTally tally(2, /*masks=*/false);
  // The first found as it is, the second as the other class; nothing where something was seen; an answer too unsure.
  tally.add(0, 50, two_truths(),
            {{0, 0.9, {0, 0, 10, 10}, {}},
             {0, 0.8, {40, 0, 50, 10}, {}},
             {1, 0.7, {80, 80, 90, 90}, {}},
             {1, 0.1, {40, 0, 50, 10}, {}}});
  tally.add(1, 51, two_truths(), {});
  const DetectionEvaluation evaluation = tally.finish();
  EXPECT_EQ(evaluation.images, 2);
  EXPECT_EQ(evaluation.confusion, (std::vector<int64_t>{1, 0, 1, 1, 0, 1, 0, 1, 0}));
  ASSERT_EQ(evaluation.worst.size(), 2u);
  EXPECT_EQ(evaluation.worst[0].index, 1);
  EXPECT_EQ(evaluation.best[0].index, 0);
  EXPECT_NEAR(evaluation.best[0].agreement, 2.0 / 5, 1e-12);
  const train::Metrics metrics = evaluation.metrics();
  EXPECT_TRUE(metrics.find("box_ap").has_value());
  EXPECT_FALSE(metrics.find("box_ap_large").has_value());
  EXPECT_FALSE(metrics.find("mask_ap").has_value());
  // Half of class 0 was found first, its miss came later; of class 1 half, after a miss: 51 of 101 recalls.
  EXPECT_NEAR(*metrics.find("box_ap50"), (51.0 / 101 + 51.0 / 101 / 2) / 2, 1e-12);

  const auto again = detection_evaluation_from_json(to_json(evaluation, kNames), 2);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_json(*again, kNames), to_json(evaluation, kNames));
  EXPECT_FALSE(detection_evaluation_from_json(to_json(evaluation, kNames), 3).has_value());
  EXPECT_FALSE(detection_evaluation_from_json("{", 2).has_value());
  const auto blocks = detection_blocks(evaluation, kNames);
  EXPECT_EQ(blocks.size(), 4u);
  // Of two images.
  EXPECT_GT(metrics.find("box_ap_stderr").value(), 0);
  EXPECT_EQ(again->metrics(), metrics);
  const auto& numbers = std::get<report::Table>(blocks[0]);
  EXPECT_NE(numbers.rows[0][1].text.find(" ± "), std::string::npos);
  EXPECT_EQ(numbers.rows[1][1].text.find(" ± "), std::string::npos);
}

TEST(DetectionTally, MeasuresBoxesOfObjectsWithoutAMask) {
  const geometry::RunLengths mask = geometry::RunLengths({20, 60}, std::vector<uint32_t>{0, 200, 1000});
  std::vector<metrics::TrueObject> truths = two_truths();
  truths[0].mask = mask;
  const std::vector<FoundObject> found{{0, 0.9, {0, 0, 10, 10}, mask}, {1, 0.8, {40, 0, 50, 10}, mask}};
  DetectionTally tally(2, /*masks=*/true);
  tally.add(0, 50, truths, found);
  const DetectionEvaluation evaluation = tally.finish();
  EXPECT_NEAR(evaluation.boxes.numbers[0], 1, 1e-12);
  EXPECT_EQ(evaluation.boxes.classes[1].truths, 1);
  EXPECT_NEAR(evaluation.masks->numbers[0], 1, 1e-12) << "of the class whose object has a mask";
  EXPECT_EQ(evaluation.masks->classes[1].truths, 0);
  EXPECT_EQ(evaluation.masks->classes[1].ap, -1);
}

TEST(DetectionTally, HasNoNumberWithoutObjects) {
  const DetectionEvaluation evaluation = DetectionTally(2, true).finish();
  for (const char* name : {"box_ap", "mask_ap"}) EXPECT_TRUE(std::isnan(evaluation.metrics().find(name).value()));
  EXPECT_FALSE(DetectionTally(2, false).finish().metrics().find("mask_ap"));
  EXPECT_TRUE(to_json(evaluation, kNames).empty());
  EXPECT_TRUE(detection_metrics(true)[0].decides);
  EXPECT_EQ(detection_metrics(true).size(), 26u);
}

TEST(StrokeText, StaysWithinItsHeightAndWidth) {
  const StrokeText letters{2};
  for (const char* text : {"A", "abcdefghijklmnopqrstuvwxyz", "0123456789.-_", "\xC3\xA4 %"}) {
    int64_t pixels = 0;
    letters.for_pixels(text, [&](int64_t x, int64_t y) {
      ++pixels;
      EXPECT_TRUE(x >= 0 && y >= 0 && x < letters.width(text) && y < letters.height()) << text << ' ' << x << ' ' << y;
    });
    EXPECT_GT(pixels, 0);
  }
}

}  // namespace
}  // namespace cachet::tasks
