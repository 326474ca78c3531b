#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
/// Each shard ends with the image that makes it larger than `shard_bytes`. Equal arguments give equal bytes. `progress`
/// receives the number of images written so far, and may throw to stop. Throws std::invalid_argument if the images are
/// not in files, and io::Error if a file cannot be read or written.
WrittenShards write_shards(const std::filesystem::path& folder, const std::string& split, const LabelledImages& images,
                           uint64_t shard_bytes, const ShardOrder& order,
                           const std::function<void(int64_t done)>& progress = {});

/// Writes the file with the class names (kShardClasses). Throws io::Error if a name cannot be stored in a line.
void write_shard_classes(const std::filesystem::path& folder, const std::vector<std::string>& class_names);

}  // namespace cachet::data
