#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cachet/data/fingerprint.h"
#include "cachet/data/vision/coco/coco_notes.h"
#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::data {

struct CocoImage {
  int64_t id = 0;
  geometry::Size size;
  std::string file_name;  // path below the image folder
};

struct CocoCategory {
  int64_t id = 0;
  std::string name;
};

/// An object, or a crowd of objects.
struct CocoAnnotation {
  int64_t id = 0;
  int32_t image = 0, category = 0;  // index of the image and of the category in the file, not ids
  geometry::SizedBox box;
  double area = 0;
  bool crowd = false;
  bool ignored = false;  // whether the file has "ignore": training does not use it
  bool trained = false;  // whether training uses it: not ignored, with an area and a part in the image; also crowds

  enum class Form : uint8_t { none, polygons, runs } form = Form::none;
  uint64_t first = 0;  // index of the first polygon or run of the segmentation
  uint32_t count = 0;  // number of polygons, or of runs
};

/// A file of COCO instances (cocodataset.org: data format, object detection), read into a compact index.
///
/// A damaged file is refused with io::Error ("<path>: JSON byte 71: …", or with the number of the image). These faults
/// make a file damaged: no JSON, unknown values nested more than 16 deep, a wrong type, a missing or repeated key,
/// repeated images or categories, impossible image sizes, names that leave the folder, no images, no categories. A file
/// without annotations is accepted, such as COCO's image_info_test-dev2017.json for predictions. Faults of single
/// annotations affect only these annotations, by the rules of CocoFault, and are counted.
class CocoInstances {
 public:
  static CocoInstances read(const std::filesystem::path& file);
  /// Parses the text of a file. Messages refer to the file as `name`.
  static CocoInstances parse(std::string_view text, std::string_view name);

  const std::string& name() const { return name_; }                            // name of the file, for messages
  const std::vector<CocoImage>& images() const { return images_; }             // images in the file's order
  const std::vector<CocoCategory>& categories() const { return categories_; }  // categories in the file's order
  std::span<const CocoAnnotation> annotations(int64_t image) const;            // annotations in the file's order
  int64_t annotations() const { return static_cast<int64_t>(annotations_.size()); }
  bool has_annotations() const { return has_annotations_; }  // whether the file has "annotations", even an empty list
  const CocoNotes& notes() const { return notes_; }
  const std::string& digest() const { return digest_; }  // digest of all bytes of the file
  /// Adds the complete entry of an annotation, with its segmentation, to a digest.
  void add_to(Fingerprint& fingerprint, const CocoAnnotation& annotation) const;

  /// Returns the mask of an annotation at the size of its image, or std::nullopt if the annotation has no mask.
  std::optional<geometry::RunLengths> mask(const CocoAnnotation& annotation) const;

 private:
  friend class CocoReader;

  std::string name_, digest_;
  std::vector<CocoImage> images_;
  std::vector<CocoCategory> categories_;
  std::vector<CocoAnnotation> annotations_;  // annotations of all images, image by image
  std::vector<uint64_t> first_annotation_;   // index of the first annotation of each image, and the end
  std::vector<double> coordinates_;
  std::vector<uint64_t> polygons_;  // start of each polygon in coordinates_, and the end
  std::vector<uint32_t> runs_;
  bool has_annotations_ = false;
  CocoNotes notes_;
};

}  // namespace cachet::data
