#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cachet/io/image_request.h"

namespace cachet::data {

struct ImageShape {
  int64_t channels = 0, height = 0, width = 0;
  int64_t numel() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// Labelled images. All members may be called from several threads at once.
class ImageDataset {
 public:
  virtual ~ImageDataset() = default;
  virtual int64_t size() const = 0;
  /// Of every image; its height and width are 0 where each image has a size of its own.
  virtual ImageShape shape() const = 0;
  bool has_one_size() const { return shape().height > 0; }
  virtual const std::vector<std::string>& class_names() const = 0;
  int64_t classes() const { return static_cast<int64_t>(class_names().size()); }

  /// 0 … classes() − 1.
  virtual int64_t label(int64_t index) const = 0;
  /// (C, H, W) uint8, contiguous: a view where the images are in memory. Not to be written to.
  virtual at::Tensor image(int64_t index) const = 0;
  /// (h, w, C) uint8, contiguous, the caller's to write to: the region that `choose` wants of an image once it is told
  /// its size, perhaps smaller as io::ImageRequest says.
  virtual at::Tensor region(int64_t index, const io::ImageChooser& choose) const;
  /// The samples of these indices, in this order.
  virtual std::shared_ptr<const ImageDataset> subset(const std::vector<int64_t>& indices) const = 0;
};

/// A data set that lies in memory as a whole.
class StoredImages final : public ImageDataset {
 public:
  /// images (N, C, H, W) uint8, labels N values in 0 … class_names.size() − 1; throws std::invalid_argument otherwise.
  StoredImages(at::Tensor images, std::vector<int64_t> labels, std::vector<std::string> class_names);

  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  ImageShape shape() const override { return shape_; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  int64_t label(int64_t index) const override { return labels_.at(static_cast<size_t>(index)); }
  at::Tensor image(int64_t index) const override;

  const at::Tensor& images() const { return images_; }  // (N, C, H, W) uint8
  const std::vector<int64_t>& labels() const { return labels_; }

  std::shared_ptr<const ImageDataset> subset(const std::vector<int64_t>& indices) const override;  // a copy

 private:
  at::Tensor images_;
  std::vector<int64_t> labels_;
  std::vector<std::string> class_names_;
  ImageShape shape_;
};

}  // namespace cachet::data
