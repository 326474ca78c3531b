#include "cachet/tasks/detection/synthetic_scenes.h"

#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cachet/data/vision/coco/shape_scene.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/images/png_codec.h"

namespace cachet::tasks {

SyntheticScenes::SyntheticScenes(const DetectionOptions& options, int64_t count) {
  std::string name = (std::filesystem::temp_directory_path() / "cachet-scenes-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder at " + name);
  folder_ = name;
  data::ShapeOptions shapes;
  const data::ScaleLimit limit = options.transform.for_evaluation().scales.front();
  shapes.height = std::clamp<int64_t>(limit.shorter, 32, 512);
  // Both sides reach the limits when the picture is resized, unless no photograph is as wide.
  shapes.width = std::clamp<int64_t>(shapes.height * limit.longer / std::max<int64_t>(1, limit.shorter), shapes.height,
                                     2 * shapes.height);
  nlohmann::json file{{"images", nlohmann::json::array()}, {"annotations", nlohmann::json::array()}};
  for (int64_t i = 0; i < options.classes; ++i)
    file["categories"].push_back(
        {{"id", i + 1},
         {"name", options.class_names.empty() ? std::to_string(i) : options.class_names[static_cast<size_t>(i)]}});
  int64_t annotation = 0;
  for (int64_t i = 0; i < count; ++i) {
    const data::ShapeScene scene = data::shape_scene(shapes, 0, i);
    const std::string picture = std::to_string(i) + ".png";
    io::write_new_file(folder_ / picture,
                       io::encode_png_rows(scene.pixels.data(), {static_cast<uint32_t>(shapes.height),
                                                                 static_cast<uint32_t>(shapes.width), 3}));
    file["images"].push_back({{"id", i}, {"height", shapes.height}, {"width", shapes.width}, {"file_name", picture}});
    for (const data::ShapeObject& object : scene.objects) {
      const geometry::SizedBox box = object.mask.box();
      file["annotations"].push_back(
          {{"id", ++annotation},
           {"image_id", i},
           {"category_id", object.label % options.classes + 1},
           {"iscrowd", object.crowd ? 1 : 0},
           {"area", object.mask.area()},
           {"bbox", {box.x, box.y, box.width, box.height}},
           {"segmentation", {{"size", {shapes.height, shapes.width}}, {"counts", object.mask.text()}}}});
    }
  }
  auto instances =
      std::make_shared<const data::CocoInstances>(data::CocoInstances::parse(file.dump(), "synthetic scenes"));
  set_ = std::make_shared<const data::DetectionSet>(
      std::move(instances), folder_,
      data::DetectionSetOptions{.masks = options.model.masks, .empty_images = data::EmptyImages::keep});
}

SyntheticScenes::~SyntheticScenes() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace cachet::tasks
