#include "cachet/data/vision/coco/coco_instances.h"

#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "tests/support/cheap_refusal.h"
#include "tests/support/coco_json.h"
#include "tests/support/temporary_directory.h"

namespace cachet::data {
namespace {

using geometry::Size;
using geometry::SizedBox;
using nlohmann::json;

// A good file: two images, a polygon, and a crowd of plain run lengths.
json good_file() {
  return json::parse(R"({
    "info": {"year": 2017, "nested": [[{"a": null}]]},
    "images": [{"id": 7, "width": 8, "height": 6, "file_name": "a.jpg", "license": 3},
               {"id": 3, "width": 5, "height": 4, "file_name": "b/c.png"}],
    "annotations": [
      {"id": 1, "image_id": 3, "category_id": 20, "bbox": [1, 1, 3, 2], "area": 5.5, "iscrowd": 0,
       "segmentation": [[1, 1, 4, 1, 4, 3, 1, 3]]},
      {"id": 2, "image_id": 7, "category_id": 10, "bbox": [0, 0, 2, 6], "area": 12, "iscrowd": 1,
       "segmentation": {"size": [6, 8], "counts": [0, 12, 36]}}],
    "categories": [{"id": 10, "name": "cat"}, {"id": 20, "name": "dog", "supercategory": "animal"}]})");
}

CocoInstances parsed_instances(const json& file) { return CocoInstances::parse(file.dump(), "x.json"); }

TEST(CocoInstances, HoldWhatAFileSays) {
  const CocoInstances instances = parsed_instances(good_file());
  ASSERT_EQ(instances.images().size(), 2u);
  EXPECT_EQ(instances.images()[1].id, 3);
  EXPECT_EQ(instances.images()[1].size, (Size{4, 5}));
  EXPECT_EQ(instances.images()[1].file_name, "b/c.png");
  ASSERT_EQ(instances.categories().size(), 2u);
  EXPECT_EQ(instances.categories()[1].name, "dog");
  EXPECT_EQ(instances.annotations(), 2);
  ASSERT_EQ(instances.annotations(0).size(), 1u);
  const CocoAnnotation& crowd = instances.annotations(0)[0];
  EXPECT_TRUE(crowd.crowd);
  EXPECT_TRUE(crowd.trained);
  EXPECT_EQ(crowd.category, 0);
  EXPECT_EQ(instances.mask(crowd)->area(), 12);
  const CocoAnnotation& dog = instances.annotations(1)[0];
  EXPECT_EQ(dog.id, 1);
  EXPECT_EQ(dog.box, (SizedBox{1, 1, 3, 2}));
  EXPECT_EQ(dog.area, 5.5);
  EXPECT_EQ(instances.mask(dog)->box(), (SizedBox{1, 1, 3, 2}));
  EXPECT_FALSE(instances.notes().any());
  EXPECT_TRUE(instances.notes().lines().empty());
}

TEST(CocoInstances, HoldTheAnnotationsOfTheEvaluationFixture) {
  const json oracle = test::json_oracle("coco_eval.json");
  const CocoInstances instances = parsed_instances(oracle["ground_truth"]);
  std::map<int64_t, json> by_id;
  for (const json& annotation : oracle["ground_truth"]["annotations"]) by_id[annotation["id"]] = annotation;
  size_t seen = 0;
  for (size_t i = 0; i < instances.images().size(); ++i) {
    for (const CocoAnnotation& annotation : instances.annotations(static_cast<int64_t>(i))) {
      const json& expected = by_id.at(annotation.id);
      EXPECT_EQ(instances.images()[i].id, expected["image_id"]);
      EXPECT_EQ(annotation.box, test::sized_box_of(expected["bbox"]));
      EXPECT_EQ(*instances.mask(annotation), test::mask_of(expected["segmentation"], instances.images()[i].size));
      ++seen;
    }
  }
  EXPECT_EQ(seen, by_id.size());
}

TEST(CocoInstances, GoWithoutWhatTheyNeedNot) {
  json file = good_file();
  json& annotation = file["annotations"][0];
  annotation.erase("segmentation");
  annotation.erase("iscrowd");
  annotation.erase("area");
  const CocoInstances instances = parsed_instances(file);
  const CocoAnnotation& dog = instances.annotations(1)[0];
  EXPECT_EQ(dog.area, 6);  // its box's
  EXPECT_FALSE(dog.crowd);
  EXPECT_FALSE(instances.mask(dog).has_value());
  EXPECT_FALSE(instances.notes().any());
}

// One change to the good file, as a JSON pointer and a value (nothing: the key is taken away), and what comes of it.
struct Hostile {
  const char* name;
  const char* pointer;
  const char* value;  // JSON; the words nan and infinity are written as Python does
  const char* expected;
};

void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

std::string changed(const Hostile& hostile) {
  json file = good_file();
  const json::json_pointer pointer(hostile.pointer);
  if (hostile.value == nullptr) {
    file.at(pointer.parent_pointer()).erase(pointer.back());
    return file.dump();
  }
  // Values that nlohmann does not write go in as text.
  file[pointer] = "@";
  std::string text = file.dump();
  return text.replace(text.find("\"@\""), 3, hostile.value);
}

// The place within the JSON depends on how it is written: it is told apart from the words.
std::string without_place(std::string message) {
  const size_t at = message.find("JSON byte ");
  if (at == std::string::npos) return message;
  const size_t end = message.find(':', at);
  return message.erase(at + 10, end - at - 10);
}

class RefusedCocoFile : public ::testing::TestWithParam<Hostile> {};

TEST_P(RefusedCocoFile, SaysWhatIsWrong) {
  const std::string text = changed(GetParam());
  EXPECT_EQ(without_place(test::cheap_refusal<io::Error>(text.size(), [&] { CocoInstances::parse(text, "x.json"); })),
            std::string("x.json: ") + GetParam().expected);
}

constexpr Hostile kRefused[] = {
    {"NoImages", "/images", nullptr, "it has no 'images'; the file must be a COCO instances file"},
    {"NoCategories", "/categories", nullptr, "it has no 'categories'; the file must be a COCO instances file"},
    {"EmptyImages", "/images", "[]", "it lists no images"},
    {"EmptyCategories", "/categories", "[]", "it lists no categories"},
    {"ImagesAreAnObject", "/images", "{}", "JSON byte : 'images' must be an array"},
    {"AnImageIsANumber", "/images/0", "5", "JSON byte : an image must be an object"},
    {"AnImageWithoutId", "/images/0/id", nullptr, "JSON byte : an image has no 'id'"},
    {"AnImageIdIsText", "/images/0/id", "\"7\"",
     "JSON byte : the id of an image must be a plain integer of at least 0"},
    {"AnImageIdIsNegative", "/images/0/id", "-7",
     "JSON byte : the id of an image must be a plain integer of at least 0"},
    {"AnImageIdIsAFraction", "/images/0/id", "7.5",
     "JSON byte : the id of an image must be a plain integer of at least 0"},
    {"AnImageIdIsTooLarge", "/images/0/id", "9223372036854775808", "JSON byte : the id of an image is over 2^63 - 1"},
    {"AnImageTwice", "/images/0/id", "3", "JSON byte : image 3 is listed twice"},
    {"AnImageWithoutName", "/images/0/file_name", nullptr, "JSON byte : an image has no 'file_name'"},
    {"AnImageWithAnEmptyName", "/images/0/file_name", "\"\"",
     "JSON byte : image 7: the file name '' must be a path inside the folder of images"},
    {"AnImageElsewhere", "/images/0/file_name", "\"/etc/passwd\"",
     "JSON byte : image 7: the file name '/etc/passwd' must be a path inside the folder of images"},
    {"AnImageAbove", "/images/0/file_name", "\"a/../../b.jpg\"",
     "JSON byte : image 7: the file name 'a/../../b.jpg' must be a path inside the folder of images"},
    {"AnImageNameWithNul", "/images/0/file_name", "\"a\\u0000b\"",
     "JSON byte : image 7: the file name 'a?b' must be a path inside the folder of images"},
    {"AnImageNameOfALoneSurrogate", "/images/0/file_name", "\"\\ud800\"",
     "JSON byte : a string has a surrogate without its pair"},
    {"AnImageWithoutWidth", "/images/0/width", nullptr, "JSON byte : image 7 has no 'width'"},
    {"AnImageWithoutHeight", "/images/0/height", nullptr, "JSON byte : image 7 has no 'height'"},
    {"AnImageOfNoHeight", "/images/0/height", "0", "JSON byte : image 7 cannot be 8 pixels wide and 0 high"},
    {"AnImageTooWide", "/images/0/width", "1000001", "JSON byte : image 7 cannot be 1000001 pixels wide and 6 high"},
    {"AnImageTooLarge", "/images/0", R"({"id": 7, "file_name": "a", "width": 99999, "height": 99999})",
     "JSON byte : image 7 cannot be 99999 pixels wide and 99999 high"},
    {"ACategoryWithoutId", "/categories/0/id", nullptr, "JSON byte : a category has no 'id'"},
    {"ACategoryTwice", "/categories/0/id", "20", "JSON byte : category 20 is listed twice"},
    {"ACategoryWithoutName", "/categories/0/name", nullptr, "JSON byte : category 10 has no name"},
    {"ACategoryNameIsANumber", "/categories/0/name", "5", "JSON byte : the name of a category must be a string"},
    {"TwoCategoriesOfOneName", "/categories/0/name", "\"dog\"", "JSON byte : two categories are called 'dog'"},
    {"AnAnnotationIsAnArray", "/annotations/0", "[]", "JSON byte : an annotation must be an object"},
    {"AnAnnotationWithoutId", "/annotations/0/id", nullptr, "JSON byte : an annotation has no 'id'"},
    {"AnAnnotationWithoutImage", "/annotations/0/image_id", nullptr, "JSON byte : annotation 1 has no 'image_id'"},
    {"AnAnnotationWithoutCategory", "/annotations/0/category_id", nullptr,
     "JSON byte : annotation 1 has no 'category_id'"},
    {"ACrowdOfTwo", "/annotations/0/iscrowd", "2", "JSON byte : 'iscrowd' must be 0 or 1"},
    {"ABoxOfText", "/annotations/0/bbox", "\"1 1 3 2\"", "JSON byte : a box must be an array"},
    {"ABoxOfArrays", "/annotations/0/bbox", "[[1], 1, 3, 2]", "JSON byte : a box must be a number"},
    {"ASegmentationOfText", "/annotations/0/segmentation", "\"abc\"",
     "JSON byte : a segmentation must be polygons or run lengths"},
    {"ASegmentationOfNumbers", "/annotations/0/segmentation", "[1, 2, 3, 4, 5, 6]",
     "JSON byte : a polygon must be an array"},
    {"APolygonNestedTooDeeply", "/annotations/0/segmentation", "[[[[[[1]]]]]]",
     "JSON byte : a coordinate of a polygon must be a number"},
    {"RunsOfNegativeLength", "/annotations/1/segmentation", R"({"size": [6, 8], "counts": [50, -2]})",
     "JSON byte : a run length of a mask must be a plain integer of at least 0"},
    {"RunsTwice", "/annotations/1/segmentation", R"({"counts": [48], "size": [6, 8], "counts": [48]})",
     "JSON byte : 'counts' occurs twice in a mask"},
    {"ABoxTwice", "/annotations/1", R"({"bbox": [0, 0, 1, 1], "bbox": [0, 0, 2, 2]})",
     "JSON byte : 'bbox' occurs twice in an annotation"},
    {"NestingWithoutEnd", "/info", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
     "JSON byte : objects and arrays are nested too deeply"},
    {"AWrongWord", "/info", "nul", "JSON byte : this is not a JSON value"},
};

INSTANTIATE_TEST_SUITE_P(Hostile, RefusedCocoFile, ::testing::ValuesIn(kRefused),
                         [](const auto& info) { return info.param.name; });

TEST(CocoInstances, RefuseTextThatIsNoJsonObject) {
  const auto refusal = [](const std::string& text) {
    return test::cheap_refusal<io::Error>(text.size(), [&] { CocoInstances::parse(text, "x.json"); });
  };
  EXPECT_EQ(refusal(""), "x.json: JSON byte 0: the file must be an object");
  EXPECT_EQ(refusal("[]"), "x.json: JSON byte 0: the file must be an object");
  EXPECT_EQ(refusal("{}"), "x.json: it has no 'images'; the file must be a COCO instances file");
  EXPECT_EQ(refusal("\xEF\xBB\xBF{}"), "x.json: JSON byte 0: the file must be an object");
  const std::string good = good_file().dump();
  EXPECT_EQ(refusal(good + "{}"),
            "x.json: JSON byte " + std::to_string(good.size()) + ": the text continues after the JSON object");
  EXPECT_EQ(refusal("{\"images\": [], \"images\": []}"), "x.json: JSON byte 23: 'images' occurs twice in the file");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refusal(good.substr(0, size)), "(nothing thrown)") << size;
}

// COCO's own files of images to be answered.
TEST(CocoInstances, MayHaveNoAnnotations) {
  json file = good_file();
  EXPECT_TRUE(CocoInstances::parse(file.dump(), "x.json").has_annotations());
  file["annotations"] = json::array();
  EXPECT_TRUE(CocoInstances::parse(file.dump(), "x.json").has_annotations());
  file.erase("annotations");
  const CocoInstances instances = CocoInstances::parse(file.dump(), "x.json");
  EXPECT_FALSE(instances.has_annotations());
  EXPECT_EQ(instances.images().size(), file["images"].size());
  EXPECT_TRUE(instances.annotations(0).empty());
}

TEST(CocoInstances, AreRefusedWhereTheFileIsMissing) {
  const test::TemporaryDirectory folder;
  EXPECT_NE(
      test::thrown_message<io::Error>([&] { CocoInstances::read(folder.path() / "none.json"); }).find("none.json"),
      std::string::npos);
  std::ofstream(folder.path() / "good.json") << good_file().dump();
  EXPECT_EQ(CocoInstances::read(folder.path() / "good.json").annotations(), 2);
}

class CountedCocoFault : public ::testing::TestWithParam<Hostile> {};

// What is wrong with one annotation costs no other, and is counted.
TEST_P(CountedCocoFault, IsANote) {
  const CocoInstances instances = CocoInstances::parse(changed(GetParam()), "x.json");
  const std::vector<std::string> lines = instances.notes().lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0], GetParam().expected);
  const bool left_out = lines[0].starts_with("1 annotation left out");
  EXPECT_EQ(instances.annotations(), left_out ? 1 : 2);
  if (lines[0].starts_with("1 annotation without")) {
    EXPECT_FALSE(instances.mask(instances.annotations(1)[0]).has_value());
  }
  if (lines[0].starts_with("1 annotation not trained")) {
    EXPECT_FALSE(instances.annotations(1)[0].trained);
  }
}

constexpr char kOddBox[] =
    "1 annotation left out: their box must be four finite numbers, with a width and height of at least 0";
constexpr char kShort[] =
    "1 annotation without part of their masks: a polygon has fewer than three corners or an odd number of coordinates";
constexpr char kFar[] =
    "1 annotation without part of their masks: a polygon has corners that are not finite or too far from the image";
constexpr char kOddRuns[] =
    "1 annotation without part of their masks: the run lengths do not make a mask of the stated size";

constexpr Hostile kCounted[] = {
    {"UnknownImage", "/annotations/0/image_id", "4", "1 annotation left out: their image is not listed"},
    {"UnknownCategory", "/annotations/0/category_id", "4", "1 annotation left out: their category is not listed"},
    {"RepeatedId", "/annotations/1/id", "1", "1 annotation left out: their id is the id of an earlier annotation"},
    {"NoBox", "/annotations/0/bbox", nullptr, kOddBox},
    {"ABoxOfThree", "/annotations/0/bbox", "[1, 1, 3]", kOddBox},
    {"ABoxOfFive", "/annotations/0/bbox", "[1, 1, 3, 2, 1]", kOddBox},
    {"ABoxWithNan", "/annotations/0/bbox", "[NaN, 1, 3, 2]", kOddBox},
    {"ABoxWithInfinity", "/annotations/0/bbox", "[1, 1, Infinity, 2]", kOddBox},
    {"ABoxBeyondDouble", "/annotations/0/bbox", "[1, 1, 1e999, 2]", kOddBox},
    {"ANegativeSide", "/annotations/0/bbox", "[4, 1, -3, 2]", kOddBox},
    {"AnAreaOfNan", "/annotations/0/area", "NaN",
     "1 annotation left out: their area must be a finite number of at least 0"},
    {"ANegativeArea", "/annotations/0/area", "-1",
     "1 annotation left out: their area must be a finite number of at least 0"},
    {"AnOddPolygon", "/annotations/0/segmentation", "[[1, 1, 4, 1, 4, 3, 1]]", kShort},
    {"APolygonOfTwoCorners", "/annotations/0/segmentation", "[[1, 1, 4, 1]]", kShort},
    {"AnEmptyPolygon", "/annotations/0/segmentation", "[[]]", kShort},
    {"APolygonWithNan", "/annotations/0/segmentation", "[[1, 1, 4, NaN, 4, 3]]", kFar},
    {"APolygonFarAway", "/annotations/0/segmentation", "[[1, 1, 4e12, 1, 4, 3]]", kFar},
    {"APolygonOutsideItsBox", "/annotations/0/segmentation", "[[0, 0, 0.5, 0, 0, 0.5]]",
     "1 annotation without part of their masks: the segmentation lies outside the box"},
    {"RunsOutsideTheirBox", "/annotations/0",
     R"({"id": 1, "image_id": 3, "category_id": 20, "bbox": [2, 2, 2, 1], "area": 2,
         "segmentation": {"size": [4, 5], "counts": [0, 1, 19]}})",
     "1 annotation without part of their masks: the segmentation lies outside the box"},
    {"RunsOfAnotherSize", "/annotations/0/segmentation", R"({"size": [5, 4], "counts": [5, 15]})",
     "1 annotation without part of their masks: the size of the run lengths is not the size of the image"},
    {"RunsThatAddUpToLess", "/annotations/0/segmentation", R"({"size": [4, 5], "counts": [5, 14]})", kOddRuns},
    {"RunsThatOverflow", "/annotations/0/segmentation",
     R"({"size": [4, 5], "counts": [4294967296, 9223372036854775807]})", kOddRuns},
    {"RunsOfNoSize", "/annotations/0/segmentation", R"({"counts": [20]})", kOddRuns},
    {"RunsOfThreeSides", "/annotations/0/segmentation", R"({"size": [4, 5, 3], "counts": [20]})", kOddRuns},
    {"RunsOfHugeSides", "/annotations/0/segmentation",
     R"({"size": [9223372036854775807, 9223372036854775807], "counts": [20]})", kOddRuns},
    {"CompressedRunsCutOff", "/annotations/0/segmentation", R"({"size": [4, 5], "counts": "5R"})", kOddRuns},
    {"CompressedRunsOfOtherSymbols", "/annotations/0/segmentation", R"({"size": [4, 5], "counts": "5\u00e4"})",
     kOddRuns},
    {"CompressedRunsThatOverflow", "/annotations/0/segmentation", R"({"size": [4, 5], "counts": "oooooooo0"})",
     kOddRuns},
    {"ABoxOutside", "/annotations/0", R"({"id": 1, "image_id": 3, "category_id": 20, "bbox": [9, 1, 3, 2], "area": 5})",
     "1 annotation not trained with: their box lies outside the image"},
    {"ABoxWithoutArea", "/annotations/0/bbox", "[1, 1, 0, 2]", "1 annotation not trained with: their box has no area"},
    {"NoArea", "/annotations/0/area", "0", "1 annotation not trained with: their box has no area"},
};

INSTANTIATE_TEST_SUITE_P(Hostile, CountedCocoFault, ::testing::ValuesIn(kCounted),
                         [](const auto& info) { return info.param.name; });

TEST(CocoInstances, RefuseAPolygonThatWouldTakeMemory) {
  json file = good_file();
  file["images"][1]["width"] = 900000;
  json polygon = json::array();
  for (int i = 0; i < 1000; ++i) polygon.insert(polygon.end(), {i % 2 == 0 ? 0 : 900000, 1});
  file["annotations"][0]["segmentation"] = json::array({polygon});
  const CocoInstances instances = parsed_instances(file);
  EXPECT_EQ(instances.notes()[CocoFault::odd_polygon], 1);
  EXPECT_FALSE(instances.mask(instances.annotations(1)[0]).has_value());
}

}  // namespace
}  // namespace cachet::data
