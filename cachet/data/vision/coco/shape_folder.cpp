#include "cachet/data/vision/coco/shape_folder.h"

#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cachet/data/ordered_prefetch.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/io/images/jpeg_encoder.h"
#include "cachet/io/images/png_codec.h"

namespace cachet::data {
namespace {

// COCO's JSON, an entry a line. All texts in it are ours and need no escapes, but for run lengths.
class InstancesText {
 public:
  void add_image(int64_t id, const std::string& name, const ShapeOptions& options) {
    images_ += (images_.empty() ? "\n" : ",\n");
    images_ += "{\"id\": " + std::to_string(id) + ", \"file_name\": \"" + name +
               "\", \"height\": " + std::to_string(options.height) + ", \"width\": " + std::to_string(options.width) +
               "}";
  }

  void add_object(int64_t image, const ShapeObject& object) {
    const geometry::SizedBox box = object.mask.box();
    const auto whole = [](double number) { return std::to_string(static_cast<int64_t>(number)); };
    annotations_ += (annotations_.empty() ? "\n" : ",\n");
    annotations_ +=
        "{\"id\": " + std::to_string(++annotation_) + ", \"image_id\": " + std::to_string(image) +
        ", \"category_id\": " + std::to_string(object.label + 1) + ", \"iscrowd\": " + (object.crowd ? "1" : "0") +
        ", \"area\": " + std::to_string(object.mask.area()) + ", \"bbox\": [" + whole(box.x) + ", " + whole(box.y) +
        ", " + whole(box.width) + ", " + whole(box.height) + "], \"segmentation\": " + segmentation(object) + "}";
  }

  std::string finish() const {
    std::string categories;
    for (size_t i = 0; i < kShapeNames.size(); ++i)
      categories += (i == 0 ? "\n" : ",\n") + ("{\"id\": " + std::to_string(i + 1)) + ", \"name\": \"" +
                    std::string(kShapeNames[i]) + "\"}";
    return "{\"images\": [" + images_ + "],\n\"annotations\": [" + annotations_ + "],\n\"categories\": [" + categories +
           "]}\n";
  }

 private:
  // As COCO has them: those of crowds as numbers. Others would be polygons there, which have no holes.
  static std::string segmentation(const ShapeObject& object) {
    std::string counts;
    if (object.crowd) {
      for (const uint32_t count : object.mask.counts()) counts += (counts.empty() ? "[" : ", ") + std::to_string(count);
      counts += "]";
    } else {
      counts = "\"";
      for (const char symbol : object.mask.text()) {
        if (symbol == '\\') counts += '\\';
        counts += symbol;
      }
      counts += "\"";
    }
    return "{\"size\": [" + std::to_string(object.mask.size().height) + ", " +
           std::to_string(object.mask.size().width) + "], \"counts\": " + counts + "}";
  }

  std::string images_, annotations_;
  int64_t annotation_ = 0;
};

// A picture, encoded, and what is in it.
struct EncodedScene {
  std::vector<std::byte> file;
  std::vector<ShapeObject> objects;
};

EncodedScene encoded_scene(const ShapeOptions& options, uint64_t split, int64_t index) {
  ShapeScene scene = shape_scene(options, split, index);
  const io::PixelSize size{static_cast<uint32_t>(options.height), static_cast<uint32_t>(options.width), 3};
  return {
      options.jpeg ? io::encode_jpeg_rows(scene.pixels.data(), size) : io::encode_png_rows(scene.pixels.data(), size),
      std::move(scene.objects)};
}

std::string picture_name(const ShapeOptions& options, int64_t id) {
  char name[32];
  std::snprintf(name, sizeof(name), "%06lld.%s", static_cast<long long>(id), options.jpeg ? "jpg" : "png");
  return name;
}

}  // namespace

ShapeCounts write_shape_folder(const std::filesystem::path& folder, const ShapeOptions& options,
                               const ShapeProgress& progress) {
  check(options);
  io::NewFolder result(folder);
  ShapeCounts counts;
  std::filesystem::create_directories(result.path() / "annotations");
  for (const auto& [split, name, images] : {std::tuple{uint64_t{0}, std::string("train"), options.train},
                                            {uint64_t{1}, std::string("val"), options.validation}}) {
    const std::filesystem::path pictures = result.path() / "images" / name;
    std::filesystem::create_directories(pictures);
    InstancesText text;
    OrderedPrefetch<EncodedScene> scenes(
        0, images, [&options, split = split](int64_t index) { return encoded_scene(options, split, index); },
        options.threads > 1 ? options.threads : 0, 4 * options.threads);
    for (int64_t id = 1; auto scene = scenes.next(); ++id) {
      const std::string file = picture_name(options, id);
      io::write_new_file(pictures / file, scene->file);
      text.add_image(id, file, options);
      for (const ShapeObject& object : scene->objects) {
        text.add_object(id, object);
        ++(object.crowd ? counts.crowds : counts.objects[static_cast<size_t>(object.label)]);
      }
      ++counts.images;
      if (progress) progress(counts.images);
    }
    io::write_new_file(result.path() / "annotations" / ("instances_" + name + ".json"), text.finish());
  }
  result.finish();
  return counts;
}

}  // namespace cachet::data
