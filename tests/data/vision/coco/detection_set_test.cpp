#include "cachet/data/vision/coco/detection_set.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "tests/data/vision/coco/detection_files.h"
#include "tests/support/bytes.h"
#include "tests/support/coco_json.h"
#include "tests/support/exif.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

using nlohmann::json;
using test::thrown_message;

std::shared_ptr<const CocoInstances> instances_of(const json& file) {
  return std::make_shared<const CocoInstances>(CocoInstances::parse(file.dump(), "x.json"));
}

void expect_set_boxes(const std::vector<geometry::Box>& boxes, const json& expected) {
  ASSERT_EQ(boxes.size(), expected.size());
  for (size_t i = 0; i < boxes.size(); ++i) EXPECT_EQ(boxes[i], test::box_of(expected[i]));
}

TEST(DetectionSet, TakesTheObjectsThatMmdetectionTakes) {
  const json oracle = test::json_oracle("det_pipeline.json")["annotations"];
  const auto instances = instances_of(oracle["data"]);
  const DetectionSet all(instances, "", {.class_names = oracle["classes"], .empty_images = EmptyImages::keep});
  EXPECT_EQ(all.category_ids(), oracle["category_ids"].get<std::vector<int64_t>>());
  ASSERT_EQ(all.size(), static_cast<int64_t>(oracle["parsed"].size()));
  for (int64_t i = 0; i < all.size(); ++i) {
    const json& expected = oracle["parsed"][std::to_string(all.image(i).id)];
    const DetectionObjects objects = all.objects(i);
    expect_set_boxes(objects.boxes, expected["boxes"]);
    expect_set_boxes(objects.crowds, expected["ignored"]);
    EXPECT_EQ(objects.labels, expected["labels"].get<std::vector<int64_t>>());
  }
  const DetectionSet used(instances, "", {.class_names = oracle["classes"]});
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < used.size(); ++i) ids.push_back(used.image(i).id);
  EXPECT_EQ(ids, oracle["used_in_training"].get<std::vector<int64_t>>());
  EXPECT_EQ(used.notes(),
            (std::vector<std::string>{"x.json: 1 annotation not trained with: their box lies outside the image",
                                      "x.json: 2 annotations not trained with: their box has no area",
                                      "x.json: 3 images left out: no object of the classes, or too small",
                                      "x.json: 2 annotations left out: the category is not a class of the model"}));
  EXPECT_NE(used.fingerprint(), all.fingerprint());
}

TEST(DetectionSet, KnowsClassesInTheModelsOrder) {
  const json oracle = test::json_oracle("det_pipeline.json")["annotations"];
  const auto instances = instances_of(oracle["data"]);
  const DetectionSet set(instances, "", {.class_names = {"c", "a"}});
  EXPECT_EQ(set.category_ids(), (std::vector<int64_t>{7, 1}));
  EXPECT_EQ(set.objects(0).labels, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(DetectionSet(instances, "", {}).class_names(), (std::vector<std::string>{"a", "b", "c", "unused"}));
  EXPECT_EQ(thrown_message<io::Error>([&] {
              DetectionSet(instances, "", {.class_names = {"a", "zebra"}});
            }),
            "x.json: has no category 'zebra', which is one of the 2 classes of the model");
  const DetectionSet fewer(instances, "",
                           {.class_names = {"zebra", "c", "a", "b", "unused"}, .may_lack_classes = true});
  EXPECT_EQ(fewer.category_ids(), (std::vector<int64_t>{-1, 7, 1, 3, 90}));
  const std::vector<int64_t> labels = fewer.objects(0).labels;
  ASSERT_GE(labels.size(), 3U);
  EXPECT_EQ(std::vector<int64_t>(labels.begin(), labels.begin() + 3), (std::vector<int64_t>{3, 1, 4}))
      << "b, c, unused";
  EXPECT_EQ(thrown_message<io::Error>([&] {
              DetectionSet(instances, "", {.class_names = {"zebra", "c", "a"}, .may_lack_classes = true});
            }),
            "x.json: has objects of category 'b', which is not a class of the model; to evaluate without such objects, "
            "set data.other_categories = \"leave_out\"");
  const DetectionSetOptions left_out{
      .class_names = {"zebra", "c", "a"}, .may_lack_classes = true, .other_categories = OtherCategories::leave_out};
  EXPECT_EQ(DetectionSet(instances, "", left_out).objects(0).labels, (std::vector<int64_t>{1, 2}));
  EXPECT_THROW(DetectionSet(instances, "", {.class_names = {"a"}, .other_categories = OtherCategories::refuse}),
               io::Error);
  EXPECT_EQ(thrown_message<io::Error>([&] {
              DetectionSet(instances, "", {.class_names = {"cat", "dog"}, .may_lack_classes = true});
            }),
            "x.json: has none of the model's 2 classes ('cat', …) among its categories");
  EXPECT_EQ(
      thrown_message<io::Error>([&] { DetectionSet(instances, "", {.class_names = {"a"}, .least_side = 500}); }),
      "x.json: none of its 5 images can be used: each has no object of the classes, or a side of less than 500 pixels");
}

TEST(DetectionSet, LeavesOutObjectsWithoutAMaskWhereMasksAreAskedFor) {
  json file = test::json_oracle("det_pipeline.json")["annotations"]["data"];
  file["annotations"][0].erase("segmentation");
  const auto instances = instances_of(file);
  EXPECT_EQ(DetectionSet(instances, "", {.class_names = {"b"}}).objects(0).size(), 1u);
  const DetectionSet masks(instances, "", {.class_names = {"b", "c"}, .masks = true});
  EXPECT_EQ(masks.objects(0).size(), 1u);
  EXPECT_EQ(masks.objects(0).masks.size(), 1u);
  EXPECT_EQ(masks.notes().back(), "x.json: 1 object has no mask: used for box AP, but not for mask AP or for training");
  // Objects that training leaves out by other rules are counted, too: every object is evaluated or counted.
  for (auto& annotation : file["annotations"]) annotation.erase("segmentation");
  file["annotations"][1]["area"] = 0;
  const DetectionSet none(instances_of(file), "", {.masks = true, .empty_images = EmptyImages::keep});
  EXPECT_EQ(none.notes().back(), "x.json: " + std::to_string(file["annotations"].size()) +
                                     " objects have no mask: used for box AP, but not for mask AP or for training");
}

TEST(DetectionSet, ReadsImagesOfTheStatedSize) {
  const test::TemporaryDirectory folder;
  const auto set = test::small_detection_set(folder.path(), 3);
  EXPECT_EQ(set->pixels(1).sizes(), (at::IntArrayRef{60, 40, 3}));
  EXPECT_EQ(set->pixels(2)[0][0][0].item<int64_t>(), 2);
  EXPECT_EQ(set->objects(2).masks[0].box(), (geometry::SizedBox{5, 8, 10, 10}));
  EXPECT_EQ(set->subset({2, 0})->image(0).id, 102);
  EXPECT_NE(set->subset({2, 0})->fingerprint(), set->fingerprint());
  test::write_plain_png(folder / "0.png", 41, 60, 0);
  EXPECT_EQ(thrown_message<io::Error>([&] { set->pixels(0); }),
            (folder / "0.png").string() + ": is 60 × 41 pixels, but x.json states 60 × 40");
}

// Annotations are of the upright picture, or of the stored one: `width` and `height` are checked against that.
TEST(DetectionSet, TurnsImagesUprightWhereTheOrientationIsApplied) {
  const test::TemporaryDirectory folder;
  const auto small = test::small_detection_set(folder.path(), 2);  // 60 × 40 and 40 × 60 pixels
  const auto opened = [&](io::OrientationRule rule) {
    return DetectionSet(std::make_shared<const CocoInstances>(small->instances()), folder.path(),
                        {.orientation = rule});
  };
  const auto apply = io::OrientationRule::apply, ignore = io::OrientationRule::ignore;
  const auto file = folder / "0.png";
  const std::string upright = test::read_bytes(file);
  test::write_plain_png(file, 60, 40, 7);
  test::write_bytes(file, test::with_png_exif(test::read_bytes(file), 6));
  EXPECT_EQ(opened(apply).pixels(0).sizes(), (at::IntArrayRef{40, 60, 3}));
  EXPECT_EQ(thrown_message<io::Error>([&] { opened(ignore).pixels(0); }),
            file.string() +
                ": is 40 × 60 pixels as stored, but x.json states 60 × 40, the size of the upright picture (EXIF "
                "orientation). If the annotations belong to the upright picture, set data.orientation = \"apply\"");
  test::write_bytes(file, test::with_png_exif(upright, 6));
  EXPECT_EQ(opened(ignore).pixels(0).sizes(), (at::IntArrayRef{40, 60, 3}));
  EXPECT_EQ(thrown_message<io::Error>([&] { opened(apply).pixels(0); }),
            file.string() +
                ": is 40 × 60 pixels upright, but x.json states 60 × 40, the size of the picture as stored. If the "
                "annotations belong to the stored picture, set data.orientation = \"ignore\"");
}

TEST(DetectionSet, WantsItsImages) {
  const test::TemporaryDirectory folder;
  std::ofstream(folder / "x.json") << test::json_oracle("det_pipeline.json")["annotations"]["data"].dump();
  EXPECT_EQ(thrown_message<io::Error>([&] { open_detection_set(folder / "x.json", folder / "images", {}); }),
            (folder / "images" / "0.jpg").string() + ": does not exist, but " + (folder / "x.json").string() +
                " lists it; set data.validation_images to the folder of the images");
  const std::string long_name(300, 'x');
  EXPECT_EQ(thrown_message<io::Error>([&] { open_detection_set(folder / "x.json", folder / long_name, {}); }),
            (folder / long_name / "0.jpg").string() + ": File name too long, but " + (folder / "x.json").string() +
                " lists it; set data.validation_images to the folder of the images");
}

}  // namespace
}  // namespace cachet::data
