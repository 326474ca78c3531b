// Files of COCO instances, and the masks in them.
#include "cachet/data/vision/coco/coco_instances.h"
#include "cachet/geometry/mask_transforms.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
    const data::CocoInstances instances = data::CocoInstances::parse(text, "input");
    instances.notes().lines();
    for (size_t i = 0; i < instances.images().size(); ++i) {
      if (instances.images()[i].size.height * instances.images()[i].size.width > 1 << 16) continue;
      for (const data::CocoAnnotation& annotation : instances.annotations(static_cast<int64_t>(i))) {
        const auto mask = instances.mask(annotation);
        if (!mask) continue;
        const auto again = geometry::RunLengths::from_text(mask->size(), mask->text());
        const auto bitmap = geometry::RunLengths::of_bitmap(mask->size(), mask->bitmap());
        const auto twice = geometry::mirrored(geometry::mirrored(*mask));
        if (again != *mask || bitmap != *mask || twice != *mask) std::abort();
      }
    }
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  const std::string images =
      R"({"images": [{"id": 1, "width": 9, "height": 7, "file_name": "a.png"}], "annotations": [)";
  const std::string rest =
      R"(], "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b", "supercategory": "c"}]})";
  const std::string entry = R"({"id": 1, "image_id": 1, "category_id": 2, "bbox": [1, 1, 4.5, 3], "area": 13, )";
  return {images + rest, images + entry + R"("segmentation": [[1, 1, 5.5, 1, 5.5, 4, 1, 4]]})" + rest,
          images + entry + R"("iscrowd": 1, "segmentation": {"size": [7, 9], "counts": [9, 20, 34]}})" + rest,
          images + entry + R"("ignore": 1, "segmentation": {"size": [7, 9], "counts": "9d0R1"}})" + rest};
}

}  // namespace cachet::fuzz
