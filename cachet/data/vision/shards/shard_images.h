#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cachet/data/vision/image_digests.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_source.h"
#include "cachet/data/vision/shards/shard_index.h"
#include "cachet/io/files/read_file.h"

namespace cachet::data {

/// A tar shard and its samples.
struct IndexedShard {
  std::string name;  // relative to the folder of the data set
  FileVersion version;
  ShardIndex index;
};

/// The shards of a split. Several threads may read at the same time. At most 64 shards are open at once.
class ShardFiles {
 public:
  ShardFiles(std::filesystem::path folder, std::vector<IndexedShard> shards);

  const std::vector<IndexedShard>& shards() const { return shards_; }
  std::filesystem::path path(size_t shard) const { return folder_ / shards_.at(shard).name; }
  /// Reads the bytes of a sample. Throws io::Error, which names the shard and the member, if the image file is larger
  /// than io::kMaxImageFileBytes. Throws std::runtime_error if the shard cannot be read, or if it changed since its
  /// index was made: then the fault is not that of one sample.
  std::vector<std::byte> read(size_t shard, const ShardSample& sample) const;

 private:
  struct OpenShard {
    size_t shard = 0;
    std::shared_ptr<const io::InputFile> file{};
  };
  std::shared_ptr<const io::InputFile> opened(size_t shard) const;

  std::filesystem::path folder_;
  std::vector<IndexedShard> shards_;
  mutable std::mutex mutex_;
  mutable std::vector<OpenShard> open_;  // the last used shard is the last
};

/// JPEG and PNG images in tar shards, decoded on demand. The images may have different sizes.
class ShardImages final : public ImageSource {
 public:
  /// A sample's shard, and the sample's index in the shard.
  struct Position {
    uint32_t shard = 0, sample = 0;
  };

  /// Takes all samples of the shards, in the order of the shards.
  explicit ShardImages(std::shared_ptr<const ShardFiles> files, const ImageFileOptions& options = {});

  int64_t size() const override { return static_cast<int64_t>(positions_.size()); }
  ImageShape shape() const override { return {options_.channels, 0, 0}; }
  at::Tensor image(int64_t index) const override;
  at::Tensor region(int64_t index, const io::ImageChooser& choose) const override;
  /// Returns the digests of the names and sizes of the images, and of the times of the shards. The digests do not
  /// depend on the distribution of the images to shards.
  DataDigest digest() const override;
  std::string image_digest(int64_t index) const override;
  std::optional<StoredBytes> stored(int64_t index) const override;
  std::vector<int64_t> shard_sizes() const override;
  void keep_digests() const override { digests_->keep(); }
  std::vector<int64_t> files_read() const override { return digests_->images(); }
  void add_to(Fingerprint& fingerprint) const override;
  std::shared_ptr<const ImageSource> subset(const std::vector<int64_t>& indices) const override;
  std::vector<std::string> notes() const override { return notes_->lines(); }

  /// Returns the name of an image for messages: "data/train-000001.tar: 00001234.jpg".
  std::string name(int64_t index) const;

 private:
  ShardImages(std::shared_ptr<const ShardFiles> files, std::vector<Position> positions,
              const ImageFileOptions& options);
  const ShardSample& sample(int64_t index) const;

  std::shared_ptr<const ShardFiles> files_;
  std::vector<Position> positions_;
  ImageFileOptions options_;
  std::shared_ptr<ImageFileNotes> notes_ = std::make_shared<ImageFileNotes>();
  std::shared_ptr<ImageDigests> digests_ = std::make_shared<ImageDigests>();
};

}  // namespace cachet::data
