#include "cachet/data/vision/coco/coco_results.h"

#include <gtest/gtest.h>

#include "cachet/io/error.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/coco_json.h"

namespace cachet::data {
namespace {

using nlohmann::json;

std::vector<CocoDetection> parsed_results(const std::string& text) {
  std::vector<CocoDetection> detections;
  parse_coco_results(text, "x.json", [&](CocoDetection detection) { detections.push_back(std::move(detection)); });
  return detections;
}

TEST(CocoResults, AreThoseOfMmdetection) {
  const json oracle = test::json_oracle("det_pipeline.json")["annotations"];
  for (const bool masks : {false, true}) {
    CocoResultsText text;
    for (const json& image : oracle["results"]) {
      for (size_t label = 0; label < image["detections"].size(); ++label) {
        for (size_t rank = 0; rank < image["detections"][label].size(); ++rank) {
          const json& numbers = image["detections"][label][rank];
          CocoDetection detection{image["image_id"], oracle["category_ids"][label], sized(test::box_of(numbers)),
                                  numbers[4], std::nullopt};
          if (masks) detection.mask = test::mask_of(image["masks"][label][rank]);
          text.add(detection);
        }
      }
    }
    EXPECT_EQ(text.size(), 10);
    const json& expected = oracle[masks ? "segm_json" : "bbox_json"];
    const json written = json::parse(std::move(text).finish());
    ASSERT_EQ(written.size(), expected.size());
    for (size_t i = 0; i < written.size(); ++i) EXPECT_EQ(written[i], expected[i]) << i;
  }
}

TEST(CocoResults, ReadWhatWasWritten) {
  const json oracle = test::json_oracle("coco_eval.json");
  for (const char* key : {"bbox_detections", "segm_detections"}) {
    const auto detections = parsed_results(oracle[key].dump());
    ASSERT_EQ(detections.size(), oracle[key].size());
    CocoResultsText text;
    for (const CocoDetection& detection : detections) text.add(detection);
    EXPECT_EQ(json::parse(std::move(text).finish()), oracle[key]);
  }
  EXPECT_TRUE(parsed_results(std::move(CocoResultsText()).finish()).empty());
  EXPECT_EQ(
      parsed_results(
          R"([{"image_id": 1, "category_id": 2, "score": 1, "segmentation": {"size": [2, 2], "counts": [1, 3]}}])")
          .at(0)
          .mask->area(),
      3);
}

TEST(CocoResults, RefuseWhatIsNone) {
  const auto refusal = [](const std::string& text) {
    const std::string message = test::cheap_refusal<io::Error>(text.size(), [&] { parsed_results(text); });
    const size_t behind = message.find(": ", message.find("JSON byte"));
    return behind == std::string::npos ? message : message.substr(behind + 2);
  };
  const auto entry = [&](const std::string& rest) {
    return refusal("[{\"image_id\": 1, \"category_id\": 2" + rest + "}]");
  };
  EXPECT_EQ(refusal("{}"), "a file of COCO results must be an array");
  EXPECT_EQ(refusal(""), "a file of COCO results must be an array");
  EXPECT_EQ(refusal("[1]"), "a detection must be an object");
  EXPECT_EQ(refusal("[] []"), "the text continues after the JSON object");
  EXPECT_EQ(refusal("[{}]"), "detection 1 has no 'image_id'");
  EXPECT_EQ(refusal(R"([{"image_id": 1}])"), "detection 1 has no 'category_id'");
  EXPECT_EQ(entry(""), "detection 1 has no 'score'");
  EXPECT_EQ(entry(", \"score\": 1"), "detection 1 has neither 'bbox' nor 'segmentation'");
  EXPECT_EQ(entry(", \"score\": NaN, \"bbox\": [1, 2, 3, 4]"), "detection 1 has a score that is not finite");
  EXPECT_EQ(entry(", \"score\": 1e999, \"bbox\": [1, 2, 3, 4]"), "detection 1 has a score that is not finite");
  EXPECT_EQ(entry(", \"score\": \"1\""), "'score' must be a number");
  EXPECT_EQ(entry(", \"image_id\": 1"), "'image_id' occurs twice in a detection");
  for (const char* box : {"[1, 2, 3]", "[1, 2, 3, 4, 5]", "[1, 2, -3, 4]", "[1, NaN, 3, 4]", "[]"})
    EXPECT_EQ(entry(std::string(", \"score\": 1, \"bbox\": ") + box),
              "detection 1 has a wrong box; a box must be four finite numbers, with a width and height of at least 0");
  const auto mask = [&](const std::string& text) { return entry(", \"score\": 1, \"segmentation\": " + text); };
  const std::string none = "detection 1 has a mask that cannot be read: ";
  EXPECT_EQ(mask("[[1, 2, 3, 4, 5, 6]]"), "a mask must be an object");
  EXPECT_EQ(mask("{\"counts\": \"4\"}"), none + "the size of a mask must be a height and a width");
  EXPECT_EQ(mask("{\"size\": [2, 2], \"counts\": \"5\"}"),
            none + "compressed run lengths, byte 0: the lengths add up to more than the 2 × 2 pixels");
  EXPECT_EQ(mask("{\"size\": [2, 2], \"counts\": [3]}"),
            none + "the run lengths of a mask of 2 × 2 pixels add up to 3, not to 4");
  EXPECT_EQ(mask("{\"size\": [2, 2], \"counts\": [99999999999]}"),
            none + "a run of 99999999999 pixels is longer than a mask can be");
}

}  // namespace
}  // namespace cachet::data
