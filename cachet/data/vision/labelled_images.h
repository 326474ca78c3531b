#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/folder_walk.h"
#include "cachet/data/vision/image_source.h"

namespace cachet::data {

/// The class of each sample, and the names of the classes.
class ClassLabels {
 public:
  /// Throws std::invalid_argument unless all labels are in 0 … class_names.size() − 1.
  ClassLabels(std::vector<int64_t> labels, std::vector<std::string> class_names);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  int64_t operator[](int64_t index) const { return labels_.at(static_cast<size_t>(index)); }
  const std::vector<int64_t>& values() const { return labels_; }
  at::Tensor tensor() const;  // (N) int64
  const std::vector<std::string>& class_names() const { return class_names_; }
  int64_t classes() const { return static_cast<int64_t>(class_names_.size()); }

  /// Returns the labels of the same samples for another list of classes: class i becomes class `to[i]` of
  /// `class_names`.
  ClassLabels with_classes(const std::vector<int64_t>& to, std::vector<std::string> class_names) const;

  /// Returns the labels of the samples at `indices`, in the order of `indices`, with the names of all classes.
  ClassLabels subset(const std::vector<int64_t>& indices) const;

 private:
  std::vector<int64_t> labels_;
  std::vector<std::string> class_names_;
};

/// Images with one class for each image.
class LabelledImages {
 public:
  /// `passed_over` counts the files in the image folders that are not used as images. Throws std::invalid_argument if
  /// the numbers of labels and of images differ.
  LabelledImages(std::shared_ptr<const ImageSource> images, ClassLabels labels,
                 std::optional<PassedOver> passed_over = std::nullopt);

  int64_t size() const { return labels_.size(); }
  const ImageSource& images() const { return *images_; }
  const ClassLabels& labels() const { return labels_; }

  DataDigest digest() const;
  /// Returns the digest of one image together with its class.
  std::string sample_digest(int64_t index) const;
  std::string fingerprint() const;  // fingerprint as in version 0.1.0

  /// Returns a data set of the same images for another list of classes: class i becomes class `to[i]` of `class_names`.
  std::shared_ptr<const LabelledImages> with_classes(const std::vector<int64_t>& to,
                                                     std::vector<std::string> class_names) const;

  /// Returns the data set of the samples with these indices, in the order of `indices`. If a limit chose the indices,
  /// `split_size` is the size of the whole split.
  std::shared_ptr<const LabelledImages> subset(const std::vector<int64_t>& indices, int64_t split_size = 0) const;
  /// Returns the number of samples of the whole split, which exceeds size() if a limit left out samples.
  int64_t split_size() const { return std::max(split_size_, size()); }

  /// Returns the ignored files of the whole split, or std::nullopt if the images are not files of a folder.
  const std::optional<PassedOver>& passed_over() const { return passed_over_; }

 private:
  std::shared_ptr<const ImageSource> images_;
  ClassLabels labels_;
  std::optional<PassedOver> passed_over_;
  int64_t split_size_ = 0;
};

}  // namespace cachet::data
