#pragma once

#include <filesystem>

#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/shards/shard_writer.h"

namespace cachet::test {

/// Writes the images of class folders as shards of a few images each, in the order of the folders: root/train-….tar,
/// root/val-….tar and root/classes.txt.
inline void write_shards_of(const std::filesystem::path& folders, const std::filesystem::path& root, int64_t classes) {
  constexpr uint64_t kShardBytes = 10'240;  // a record of tar: the smallest shard
  std::filesystem::create_directories(root);
  const data::DatasetOptions options{.kind = &data::kClassFolders, .root = folders, .classes = classes};
  const auto training = data::open_dataset(options, data::Split::train);
  data::write_shards(root, "train", *training, kShardBytes, {.shuffles = false});
  data::write_shards(root, "val", *data::open_dataset(options, data::Split::test), kShardBytes, {.shuffles = false});
  data::write_shard_classes(root, training->labels().class_names());
}

}  // namespace cachet::test
