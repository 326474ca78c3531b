#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/data_digest.h"
#include "cachet/data/file_faults.h"
#include "cachet/data/fingerprint.h"
#include "cachet/io/images/image_request.h"

namespace cachet::data {

struct ImageShape {
  int64_t channels = 0, height = 0, width = 0;
  int64_t numel() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// Images, without labels or other knowledge about them. All members may be called from several threads at once.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual int64_t size() const = 0;
  /// The shape of every image; height and width are 0 where each image has a size of its own.
  virtual ImageShape shape() const = 0;
  bool has_one_size() const { return shape().height > 0; }

  /// (C, H, W) uint8, contiguous: a view where the images are in memory. Not to be written to.
  virtual at::Tensor image(int64_t index) const = 0;
  /// (h, w, C) uint8, contiguous, the caller's to write to: the region that `choose` returns for the image's size,
  /// perhaps scaled down as io::ImageRequest describes.
  virtual at::Tensor region(int64_t index, const io::ImageChooser& choose) const;
  /// `contents` has all pixels of images that are in memory, `files` and `times` those of image files.
  virtual DataDigest digest() const = 0;
  /// The digest of one image: of its pixels if they are in memory, otherwise of the file's bytes. If digests are stored
  /// and the file was read, these are the bytes read last, otherwise the bytes of now.
  virtual std::string image_digest(int64_t index) const = 0;
  /// The file that an image lies in alone; nothing if it lies in memory.
  virtual std::optional<std::filesystem::path> file(int64_t /*index*/) const { return std::nullopt; }
  /// What a look at image files shows without opening them; no files of images that are in memory.
  virtual FileFaults file_faults() const { return {}; }
  /// From now on digests of image files are taken as the files are read.
  virtual void keep_digests() const {}
  /// The image files that were read since, in rising order; empty of images that are in memory.
  virtual std::vector<int64_t> files_read() const { return {}; }
  /// The digest of version 0.1.0: of some pixels, or of all names and some sizes of files.
  virtual void add_to(Fingerprint& fingerprint) const = 0;
  /// The images of these indices, in this order.
  virtual std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const = 0;
  /// Lines for a run's notes: what was found wrong with images that were given all the same.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Images that lie in memory, all of one size.
class StoredImages final : public ImageSource {
 public:
  /// images (N, C, H, W) uint8; throws std::invalid_argument otherwise.
  explicit StoredImages(at::Tensor images);

  int64_t size() const override { return images_.size(0); }
  ImageShape shape() const override { return {images_.size(1), images_.size(2), images_.size(3)}; }
  at::Tensor image(int64_t index) const override;

  DataDigest digest() const override;
  std::string image_digest(int64_t index) const override;
  void add_to(Fingerprint& fingerprint) const override;

  const at::Tensor& images() const { return images_; }  // (N, C, H, W) uint8

  std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const override;  // a copy

 private:
  at::Tensor images_;
};

}  // namespace cachet::data
