#include "cachet/data/vision/shards/shard_images.h"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/images/image_format.h"
#include "cachet/io/tensors/image.h"

namespace cachet::data {
namespace {

constexpr size_t kMaxOpenShards = 64;

std::vector<ShardImages::Position> all_positions(const std::vector<IndexedShard>& shards) {
  std::vector<ShardImages::Position> positions;
  for (uint32_t shard = 0; shard < shards.size(); ++shard)
    for (uint32_t sample = 0; sample < shards[shard].index.samples.size(); ++sample)
      positions.push_back({shard, sample});
  return positions;
}

}  // namespace

ShardFiles::ShardFiles(std::filesystem::path folder, std::vector<IndexedShard> shards)
    : folder_(std::move(folder)), shards_(std::move(shards)) {}

std::shared_ptr<const io::InputFile> ShardFiles::opened(size_t shard) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(open_, shard, &OpenShard::shard);
  if (found != open_.end()) {
    std::rotate(found, found + 1, open_.end());
    return open_.back().file;
  }
  auto file = std::make_shared<const io::InputFile>(path(shard));
  if (version_of(path(shard)) != shards_[shard].version)
    throw io::Error(path(shard).string() + ": changed since its index was made; start the command again");
  if (open_.size() == kMaxOpenShards) open_.erase(open_.begin());
  open_.push_back({shard, file});
  return file;
}

std::vector<std::byte> ShardFiles::read(size_t shard, const ShardSample& sample) const {
  if (sample.size > io::kMaxImageFileBytes)
    throw io::Error(path(shard).string() + ": " + sample.name + ": has " + std::to_string(sample.size) +
                    " bytes; the maximum is " + std::to_string(io::kMaxImageFileBytes));
  try {
    const auto file = opened(shard);
    std::vector<std::byte> bytes(sample.size);
    file->read_at(sample.begin, bytes);
    return bytes;
  } catch (const io::Error& error) {
    throw std::runtime_error(error.what());
  }
}

ShardImages::ShardImages(std::shared_ptr<const ShardFiles> files, const ImageFileOptions& options)
    : ShardImages(files, all_positions(files->shards()), options) {}

ShardImages::ShardImages(std::shared_ptr<const ShardFiles> files, std::vector<Position> positions,
                         const ImageFileOptions& options)
    : files_(std::move(files)), positions_(std::move(positions)), options_(options) {}

const ShardSample& ShardImages::sample(int64_t index) const {
  const Position& position = positions_.at(static_cast<size_t>(index));
  return files_->shards()[position.shard].index.samples[position.sample];
}

std::string ShardImages::name(int64_t index) const {
  return files_->path(positions_.at(static_cast<size_t>(index)).shard).string() + ": " + sample(index).name;
}

at::Tensor ShardImages::region(int64_t index, const io::ImageChooser& choose) const {
  const auto bytes = files_->read(positions_.at(static_cast<size_t>(index)).shard, sample(index));
  if (digests_->is_kept()) digests_->add(index, digest_of(bytes));
  const std::string shown = name(index);
  io::DecodedImage image = io::decode_image(bytes, shown, read_options(options_, choose));
  notes_->add(shown, image, options_.orientation);
  return std::move(image.pixels);
}

at::Tensor ShardImages::image(int64_t index) const { return region(index, {}).permute({2, 0, 1}).contiguous(); }

DataDigest ShardImages::digest() const {
  Fingerprint files, times;
  for (int64_t i = 0; i < size(); ++i) files.add(sample(i).name).add(static_cast<int64_t>(sample(i).size));
  for (const IndexedShard& shard : files_->shards()) times.add(shard.version.nanoseconds);
  return {.files = files.text(), .times = times.text()};
}

std::string ShardImages::image_digest(int64_t index) const {
  if (auto read = digests_->find(index)) return *std::move(read);
  std::string digest;
  try {
    digest = digest_of(files_->read(positions_.at(static_cast<size_t>(index)).shard, sample(index)));
  } catch (const std::runtime_error&) {
    digest = kUnreadable;
  }
  if (digests_->is_kept()) digests_->add(index, digest);
  return digest;
}

std::optional<StoredBytes> ShardImages::stored(int64_t index) const {
  const ShardSample& one = sample(index);
  return StoredBytes{files_->path(positions_[static_cast<size_t>(index)].shard), one.begin, one.size, name(index)};
}

std::vector<int64_t> ShardImages::shard_sizes() const {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < positions_.size(); ++i) {
    if (i == 0 || positions_[i].shard != positions_[i - 1].shard) sizes.push_back(0);
    ++sizes.back();
  }
  return sizes;
}

void ShardImages::add_to(Fingerprint& fingerprint) const {
  for (int64_t i = 0; i < size(); ++i) fingerprint.add(sample(i).name);
  Fingerprint::for_some(size(), [&](int64_t index) { fingerprint.add(static_cast<int64_t>(sample(index).size)); });
}

std::shared_ptr<const ImageSource> ShardImages::subset(const std::vector<int64_t>& indices) const {
  std::vector<Position> positions;
  positions.reserve(indices.size());
  for (const int64_t index : indices) positions.push_back(positions_.at(static_cast<size_t>(index)));
  return std::shared_ptr<const ImageSource>(new ShardImages(files_, std::move(positions), options_));
}

}  // namespace cachet::data
