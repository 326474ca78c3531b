#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/coco_instances.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

namespace cachet::data {

/// The objects of an image that a detector learns from. Boxes in pixels of the image; they may reach beyond it.
struct DetectionObjects {
  std::vector<geometry::Box> boxes{};
  std::vector<int64_t> labels{};              // of each, a class from 0
  std::vector<geometry::RunLengths> masks{};  // of each, at the image's size; empty where masks are not asked for
  std::vector<geometry::Box> crowds{};        // regions of many objects: nothing to learn from

  size_t size() const { return boxes.size(); }
};

/// Which images a set has.
enum class EmptyImages {
  keep,
  leave_out,  // those without an object of the classes; crowds do, as in mmdetection
};

/// The treatment of objects whose category is not a class of the model.
enum class OtherCategories { leave_out, refuse };

struct DetectionSetOptions {
  std::vector<std::string> class_names{};  // in the model's order; empty: all categories of the file, in its order
  bool may_lack_classes = false;           // the file needs only one of the classes: for evaluation
  /// Unset: left out if the file has all classes, since then the classes are a choice among its categories; else
  /// refused.
  std::optional<OtherCategories> other_categories{};
  bool masks = false;              // objects without a mask are left out
  bool needs_annotations = false;  // a file without any is an error
  EmptyImages empty_images = EmptyImages::leave_out;
  int64_t least_side = 32;  // images with a shorter side below it are left out where empty ones are
  bool strict_images = false;
  /// Whether annotations are of the upright picture (apply) or of the picture as it is stored (ignore).
  io::OrientationRule orientation = io::OrientationRule::apply;
};

/// Images with objects in them: a file of COCO instances and a folder of images.
class DetectionSet {
 public:
  /// Throws io::Error that names a class that is not a category of the file, unless the file may lack classes, and a
  /// category with objects that is not a class, if those are refused; also where no image is left.
  DetectionSet(std::shared_ptr<const CocoInstances> instances, std::filesystem::path folder,
               DetectionSetOptions options);

  int64_t size() const { return static_cast<int64_t>(kept_.size()); }
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Of each class, in the file; −1 of a class that the file lacks.
  const std::vector<int64_t>& category_ids() const { return category_ids_; }
  const CocoInstances& instances() const { return *instances_; }
  const DetectionSetOptions& options() const { return options_; }

  /// The file's entry of image `index` of the data set.
  const CocoImage& image(int64_t index) const {
    return instances_->images()[static_cast<size_t>(kept_.at(static_cast<size_t>(index)))];
  }
  std::filesystem::path path(int64_t index) const { return files_.path(kept_.at(static_cast<size_t>(index))); }

  /// (H, W, 3) uint8. Throws io::Error that names the file, also if its size differs from that in the annotations.
  at::Tensor pixels(int64_t index) const;

  /// What a detector learns from, by the rules of mmdetection: no ignored annotations, none outside the image or
  /// without area.
  DetectionObjects objects(int64_t index) const;

  /// All annotations of an image's classes, as an evaluation takes them; category is the class.
  std::vector<CocoAnnotation> annotations(int64_t index) const;

  /// Whether an image of the set has an annotation that average precision can be measured with: of a class, no crowd.
  bool has_objects() const;

  /// The images of these indices, in this order. If a limit chose them, `split_size` is the size of their split.
  std::shared_ptr<const DetectionSet> subset(const std::vector<int64_t>& indices, int64_t split_size = 0) const;
  /// How many images the split has: more than size() if a limit left a part. Images that a rule leaves out are not
  /// counted.
  int64_t split_size() const { return std::max(split_size_, size()); }

  DataDigest digest() const;
  /// What a look at the files of its images shows without opening them.
  FileFaults file_faults() const { return images()->file_faults(); }
  /// The digest of one image: of its bytes, and of its entries in the file.
  std::string sample_digest(int64_t index) const;
  std::string fingerprint() const;  // as version 0.1.0 made it

  /// All images of the file, whether or not the set has them.
  const ImageSource& files() const { return files_; }
  /// The images of the set.
  std::shared_ptr<const ImageSource> images() const { return files_.subset(kept_); }

  /// Lines for a run's notes: faults of the file, images and objects that are left out.
  std::vector<std::string> notes() const;
  /// Those of images that were read so far: ImageSource::notes().
  std::vector<std::string> image_notes() const { return files_.notes(); }

 private:
  void match_classes();
  void require_known_categories() const;
  bool has_class(const CocoAnnotation& annotation) const {
    return label_of_[static_cast<size_t>(annotation.category)] >= 0;
  }

  std::shared_ptr<const CocoInstances> instances_;
  DetectionSetOptions options_;
  ImageFiles files_;
  std::vector<std::string> class_names_;
  std::vector<int64_t> category_ids_;
  std::vector<int64_t> label_of_;  // of each category of the file, −1 for one that is not a class
  std::vector<int64_t> kept_;      // numbers of images in the file
  int64_t left_out_ = 0;           // images that a rule leaves out, without those outside a subset
  int64_t split_size_ = 0;
};

/// Reads the file and opens the set; the first image must be there. Errors name the keys of the file and of the folder,
/// `keys` + "_annotations" and `keys` + "_images".
std::shared_ptr<const DetectionSet> open_detection_set(const std::filesystem::path& annotations,
                                                       const std::filesystem::path& images,
                                                       const DetectionSetOptions& options,
                                                       const std::string& keys = "data.validation");

}  // namespace cachet::data
