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

/// The objects of an image for training a detector. Boxes are in pixels of the image and may exceed its border.
struct DetectionObjects {
  std::vector<geometry::Box> boxes{};
  std::vector<int64_t> labels{};              // class of each object, from 0 on
  std::vector<geometry::RunLengths> masks{};  // mask of each object, at the image's size; empty without masks
  std::vector<geometry::Box> crowds{};        // regions of many objects, which are not learned as objects

  size_t size() const { return boxes.size(); }
};

/// Whether a detection set contains images without objects.
enum class EmptyImages {
  keep,
  leave_out,  // images without an object of the classes; crowds count as objects, as in mmdetection
};

/// The treatment of objects whose category is not one of the model's classes.
enum class OtherCategories { leave_out, refuse };

struct DetectionSetOptions {
  std::vector<std::string> class_names{};  // in the model's order; empty: all categories, in the order of the file
  bool may_lack_classes = false;           // whether the file needs only one of the classes, as in evaluation
  /// The treatment of objects whose category is not one of the classes. If the file has all of the classes, objects of
  /// other categories are left out by default (the recipe uses some of the file's categories). If the file lacks a
  /// class, objects of other categories are refused by default.
  std::optional<OtherCategories> other_categories{};
  bool masks = false;              // whether objects need masks; objects without a mask are left out
  bool needs_annotations = false;  // whether a file without annotations is an error
  EmptyImages empty_images = EmptyImages::leave_out;
  int64_t least_side = 32;  // if empty images are left out, so are images whose shorter side is smaller
  bool strict_images = false;
  /// Whether annotations refer to the upright picture (apply) or to the stored picture (ignore).
  io::OrientationRule orientation = io::OrientationRule::apply;
};

/// Images with objects, from a file of COCO instances and a folder of images.
class DetectionSet {
 public:
  /// Throws io::Error, which names the class, if a class is not a category of the file (unless the file may lack
  /// classes). Also throws io::Error if no image is left, or if an object belongs to none of the classes and such
  /// objects are refused.
  DetectionSet(std::shared_ptr<const CocoInstances> instances, std::filesystem::path folder,
               DetectionSetOptions options);

  int64_t size() const { return static_cast<int64_t>(kept_.size()); }
  const std::vector<std::string>& class_names() const { return class_names_; }
  /// Returns the file's category id of each class, or −1 for a class that the file lacks.
  const std::vector<int64_t>& category_ids() const { return category_ids_; }
  const CocoInstances& instances() const { return *instances_; }
  const DetectionSetOptions& options() const { return options_; }

  /// Returns the file's entry for image `index` of the data set.
  const CocoImage& image(int64_t index) const {
    return instances_->images()[static_cast<size_t>(kept_.at(static_cast<size_t>(index)))];
  }
  std::filesystem::path path(int64_t index) const { return files_.path(kept_.at(static_cast<size_t>(index))); }

  /// Reads an image (H, W, 3) uint8. Throws io::Error, which names the file, if the image cannot be read, or if its
  /// size differs from the size in the annotations.
  at::Tensor pixels(int64_t index) const;

  /// Returns the objects for training a detector, by the rules of mmdetection: without ignored annotations, and without
  /// annotations outside the image or without area.
  DetectionObjects objects(int64_t index) const;

  /// Returns an image's annotations of the set's classes, for evaluation; the field `category` is the class index.
  std::vector<CocoAnnotation> annotations(int64_t index) const;

  /// Whether the set has an annotation for measuring average precision: an object of a class, other than a crowd.
  bool has_objects() const;

  /// Returns the set of the images with these indices, in the order of `indices`. If a limit chose the indices,
  /// `split_size` is the size of the whole split.
  std::shared_ptr<const DetectionSet> subset(const std::vector<int64_t>& indices, int64_t split_size = 0) const;
  /// Returns the number of images of the split, which exceeds size() if a limit left out images. Images that a rule
  /// leaves out are not counted.
  int64_t split_size() const { return std::max(split_size_, size()); }

  DataDigest digest() const;
  /// Checks the files of the set's images without opening them.
  FileFaults file_faults() const { return images()->file_faults(); }
  /// Returns a digest of one image's bytes and of its entries in the file.
  std::string sample_digest(int64_t index) const;
  std::string fingerprint() const;  // fingerprint as in version 0.1.0

  /// Returns all images of the file, including images that are not in the set.
  const ImageSource& files() const { return files_; }
  /// Returns the images of the set.
  std::shared_ptr<const ImageSource> images() const { return files_.subset(kept_); }

  /// Returns lines for a run's notes: faults of the file, and the images and objects that are left out.
  std::vector<std::string> notes() const;
  /// Returns lines about the images that were read so far: ImageSource::notes().
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
  std::vector<int64_t> label_of_;  // class of each category of the file, −1 for a category that is not a class
  std::vector<int64_t> kept_;      // index in the file of each image of the set
  int64_t left_out_ = 0;           // number of images left out by a rule, not by a subset
  int64_t split_size_ = 0;
};

/// Reads the file of annotations and opens the data set. The first image must exist. Errors name the recipe keys of the
/// file and of the folder: `keys` + "_annotations" and `keys` + "_images".
std::shared_ptr<const DetectionSet> open_detection_set(const std::filesystem::path& annotations,
                                                       const std::filesystem::path& images,
                                                       const DetectionSetOptions& options,
                                                       const std::string& keys = "data.validation");

}  // namespace cachet::data
