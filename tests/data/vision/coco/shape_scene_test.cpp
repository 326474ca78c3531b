#include "cachet/data/vision/coco/shape_scene.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <stdexcept>

#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/data/vision/coco/shape_folder.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::data {
namespace {

ShapeOptions small_set() {
  ShapeOptions options;
  options.train = 6;
  options.validation = 3;
  options.height = 64;
  options.width = 80;
  options.crowds = 0.5;
  options.seed = 4;
  return options;
}

TEST(ShapeScene, IsAFunctionOfSeedSplitAndIndex) {
  const ShapeOptions options = small_set();
  const ShapeScene scene = shape_scene(options, 0, 5);
  EXPECT_EQ(scene.pixels, shape_scene(options, 0, 5).pixels);
  EXPECT_NE(scene.pixels, shape_scene(options, 0, 6).pixels);
  EXPECT_NE(scene.pixels, shape_scene(options, 1, 5).pixels);
  ShapeOptions other = options;
  other.seed = 5;
  EXPECT_NE(scene.pixels, shape_scene(other, 0, 5).pixels);
}

TEST(ShapeScene, ShowsEachObjectOnce) {
  ShapeOptions options = small_set();
  options.most_objects = 12;
  std::set<int64_t> labels;
  int crowds = 0, hidden_in_part = 0;
  for (int64_t i = 0; i < 150; ++i) {
    const ShapeScene scene = shape_scene(options, 0, i);
    ASSERT_EQ(scene.pixels.size(), static_cast<size_t>(64 * 80 * 3));
    EXPECT_LE(scene.objects.size(), 13u);
    for (size_t a = 0; a < scene.objects.size(); ++a) {
      const ShapeObject& object = scene.objects[a];
      labels.insert(object.label);
      crowds += object.crowd;
      EXPECT_FALSE(object.mask.empty());
      // A pixel belongs to what stands in front.
      for (size_t b = 0; b < a; ++b) EXPECT_EQ(shared_pixels(object.mask, scene.objects[b].mask), 0);
      // Of a disc of the largest size, whole within the picture, that much less is seen: it is hidden in part.
      hidden_in_part += !object.crowd && object.label == 0 && object.mask.area() < 0.6 * object.mask.box().area();
    }
  }
  EXPECT_EQ(labels.size(), kShapeNames.size());
  EXPECT_GT(crowds, 30);
  EXPECT_GT(hidden_in_part, 5);
}

TEST(ShapeFolder, IsReadAsACocoSet) {
  const test::TemporaryDirectory folder;
  ShapeOptions options = small_set();
  const ShapeCounts counts = write_shape_folder(folder / "shapes", options);
  EXPECT_EQ(counts.images, 9);
  int64_t objects = 0, crowds = 0;
  for (const auto& [split, name, images] : {std::tuple{0u, "train", 6}, {1u, "val", 3}}) {
    const auto set =
        open_detection_set(folder / "shapes" / "annotations" / ("instances_" + std::string(name) + ".json"),
                           folder / "shapes" / "images" / name, {.masks = true, .empty_images = EmptyImages::keep});
    EXPECT_EQ(set->class_names(), std::vector<std::string>(kShapeNames.begin(), kShapeNames.end()));
    EXPECT_EQ(set->size(), images);
    EXPECT_FALSE(set->instances().notes().any());
    for (int64_t i = 0; i < set->size(); ++i) {
      const ShapeScene scene = shape_scene(options, split, i);
      const auto pixels = set->pixels(i);
      EXPECT_TRUE(std::equal(scene.pixels.begin(), scene.pixels.end(), pixels.const_data_ptr<uint8_t>()));
      const DetectionObjects read = set->objects(i);
      size_t next = 0, next_crowd = 0;
      for (const ShapeObject& object : scene.objects) {
        const geometry::Box box = corners(object.mask.box());
        if (object.crowd) {
          EXPECT_EQ(read.crowds.at(next_crowd++), box);
          continue;
        }
        EXPECT_EQ(read.boxes.at(next), box);
        EXPECT_EQ(read.labels.at(next), object.label);
        EXPECT_EQ(read.masks.at(next++), object.mask);
      }
      EXPECT_EQ(read.size(), next);
      objects += static_cast<int64_t>(next);
      crowds += static_cast<int64_t>(next_crowd);
    }
  }
  EXPECT_EQ(crowds, counts.crowds);
  int64_t counted = 0;
  for (const int64_t count : counts.objects) counted += count;
  EXPECT_EQ(objects, counted);
  EXPECT_NE(test::thrown_message<io::Error>([&] { write_shape_folder(folder / "shapes", options); }),
            "(nothing thrown)");
}

TEST(ShapeFolder, IsTheSameOnAnyNumberOfThreads) {
  const test::TemporaryDirectory folder;
  ShapeOptions options = small_set();
  options.jpeg = true;
  int64_t last = 0;
  write_shape_folder(folder / "one", options, [&](int64_t done) { last = done; });
  EXPECT_EQ(last, 9);
  options.threads = 3;
  write_shape_folder(folder / "three", options);
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "one")) {
    if (!entry.is_regular_file()) continue;
    const auto other = folder / "three" / std::filesystem::relative(entry.path(), folder / "one");
    EXPECT_EQ(io::read_file(entry.path(), 1 << 20), io::read_file(other, 1 << 20)) << other;
    ++files;
  }
  EXPECT_EQ(files, 11u);
  EXPECT_TRUE(std::filesystem::exists(folder / "one" / "images" / "train" / "000001.jpg"));
}

TEST(ShapeFolder, LeavesNothingBehindWhenItIsStopped) {
  const test::TemporaryDirectory folder;
  EXPECT_THROW(write_shape_folder(folder / "shapes", small_set(), [](int64_t) { throw std::runtime_error("stop"); }),
               std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ShapeOptions, AreChecked) {
  const auto refusal = [](auto change) {
    ShapeOptions options;
    change(options);
    return test::thrown_message<std::invalid_argument>([&] { check(options); });
  };
  EXPECT_EQ(refusal([](ShapeOptions&) {}), "(nothing thrown)");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.train = 0; }), "train is 0; it must be 1 to 1000000");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.validation = -1; }), "validation is -1; it must be 1 to 1000000");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.height = 31; }), "height is 31; it must be 32 to 4096");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.width = 5000; }), "width is 5000; it must be 32 to 4096");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.most_objects = 0; }), "objects is 0; it must be 1 to 100");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.threads = 0; }), "threads is 0; it must be 1 to 256");
  EXPECT_EQ(refusal([](ShapeOptions& o) { o.crowds = 1.5; }), "crowds is a fraction of the images and must be 0 to 1");
}

}  // namespace
}  // namespace cachet::data
