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

/// The bytes of an encoded image: a file, or a part of a file.
struct StoredBytes {
  std::filesystem::path file;
  uint64_t begin = 0, size = 0;
  std::string name;  // for messages
};

/// A source of images without labels. Several threads may call the members at the same time.
class ImageSource {
 public:
  virtual ~ImageSource() = default;
  virtual int64_t size() const = 0;
  /// Returns the shape of every image. If the images have different sizes, height and width are 0.
  virtual ImageShape shape() const = 0;
  bool has_one_size() const { return shape().height > 0; }

  /// Returns the image (C, H, W) uint8, contiguous. The tensor may be a view of the data set: do not change the tensor.
  virtual at::Tensor image(int64_t index) const = 0;
  /// Returns the region that `choose` selects for the size of image `index`, as a contiguous tensor (h, w, C) uint8.
  /// The region may be scaled down as described in io::ImageRequest. The caller may change the returned tensor.
  virtual at::Tensor region(int64_t index, const io::ImageChooser& choose) const;
  /// Returns digests: `contents` of all pixels for images in memory, `files` and `times` for image files.
  virtual DataDigest digest() const = 0;
  /// Returns the digest of one image: of its pixels if the image is in memory, otherwise of its file's bytes. After
  /// keep_digests(), the digest is that of the bytes that were last read from the file. If the file was not read after
  /// keep_digests(), the digest is computed from the file's present bytes.
  virtual std::string image_digest(int64_t index) const = 0;
  /// Returns the file that contains only the image `index`, or std::nullopt if the image is in memory.
  virtual std::optional<std::filesystem::path> file(int64_t /*index*/) const { return std::nullopt; }
  /// Returns where the encoded bytes of an image are, or std::nullopt if the image is in memory, or if its file is
  /// missing.
  virtual std::optional<StoredBytes> stored(int64_t index) const;
  /// Returns the number of consecutive images in each shard of the data set. Returns an empty list if the images are
  /// not in shards, so that images far from each other take no longer to read than neighbours.
  virtual std::vector<int64_t> shard_sizes() const { return {}; }
  /// Checks the image files without opening them. For images in memory, there are no files to check.
  virtual FileFaults file_faults() const { return {}; }
  /// Starts to compute digests of image files; each digest is computed when its file is read.
  virtual void keep_digests() const {}
  /// Returns the image files read since keep_digests(), in ascending order; empty for images in memory.
  virtual std::vector<int64_t> files_read() const { return {}; }
  /// Adds the data that the digest of version 0.1.0 covers: some pixels, or all names and some sizes of files.
  virtual void add_to(Fingerprint& fingerprint) const = 0;
  /// Returns the images with the indices `indices`, in the order of `indices`.
  virtual std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const = 0;
  /// Returns lines for a run's notes: faults of images that could be read nevertheless.
  virtual std::vector<std::string> notes() const { return {}; }
};

/// Images in memory, all of one size.
class StoredImages final : public ImageSource {
 public:
  /// Takes images (N, C, H, W) uint8. Throws std::invalid_argument if images have a wrong type or shape.
  explicit StoredImages(at::Tensor images);

  int64_t size() const override { return images_.size(0); }
  ImageShape shape() const override { return {images_.size(1), images_.size(2), images_.size(3)}; }
  at::Tensor image(int64_t index) const override;

  DataDigest digest() const override;
  std::string image_digest(int64_t index) const override;
  void add_to(Fingerprint& fingerprint) const override;

  const at::Tensor& images() const { return images_; }  // (N, C, H, W) uint8

  std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const override;  // copies pixels

 private:
  at::Tensor images_;
};

}  // namespace cachet::data
