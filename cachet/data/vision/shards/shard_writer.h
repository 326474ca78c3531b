#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/labelled_images.h"

namespace cachet::data {

/// The shards that write_shards() wrote.
struct WrittenShards {
  int64_t shards = 0, images = 0;
  uint64_t bytes = 0;  // of all shards together
};

/// The seed with which the images are shuffled before they are divided into shards, or no shuffling.
struct ShardOrder {
  bool shuffles = true;
  uint64_t seed = 0;
};

/// Writes a split as tar shards in WebDataset's layout: folder/<split>-000000.tar and so on. The bytes of the images
/// are copied without decoding. The keys are the numbers of the images in the order of the shards, with eight digits.
/// A shard has at most `shard_bytes`, unless one image alone needs more. Equal arguments give equal bytes. `progress`
/// receives the number of images written so far, and may throw to stop. Throws std::invalid_argument if the images are
/// not in files, and io::Error if a file cannot be read or written.
WrittenShards write_shards(const std::filesystem::path& folder, const std::string& split, const LabelledImages& images,
                           uint64_t shard_bytes, const ShardOrder& order,
                           const std::function<void(int64_t done)>& progress = {});

/// Writes the file with the class names (kShardClasses). Throws io::Error if a name cannot be stored in a line.
void write_shard_classes(const std::filesystem::path& folder, const std::vector<std::string>& class_names);

/// Returns the name of the first entry of a folder, in alphabetical order, that is not a file of shards: a regular file
/// with the name of a shard of write_shards() (train, val or test), of its index, or kShardClasses. Returns
/// std::nullopt if there is no other entry. Throws io::Error if the folder cannot be read.
std::optional<std::string> entry_other_than_shards(const std::filesystem::path& folder);

}  // namespace cachet::data
