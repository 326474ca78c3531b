#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// The name of the file with the class names, which is in the folder of the shards.
inline constexpr const char* kShardClasses = "classes.txt";

/// Opens the tar shards of one split (shard_index.h). The patterns options.shards select the shards below `root`. The
/// samples have the order of the shards. Members that are neither images nor classes are errors, or ignored if
/// options.folders.skip_other_files. Throws io::Error, which names the shard and the member, for the faults of
/// find_shards() and read_shard_index(), for a class that is not below the number of classes, and for a split without
/// samples. The errors of find_shards() also name the key of the pattern. The training split also needs the files of
/// options.shards.test_shards, so that a run does not train without its test data.
std::shared_ptr<const LabelledImages> open_shards(const std::filesystem::path& root, Split split,
                                                  const DatasetOptions& options, const IndexProgress& progress);

/// Returns the class names in the file classes.txt, one in each line, or std::nullopt if there is no such file. Throws
/// io::Error if the file is empty, if two lines are equal, or if parse_class_names() throws it.
std::optional<std::vector<std::string>> read_shard_classes(const std::filesystem::path& root);

/// Returns the class names in the file classes.txt. Without the file, the names are the numbers of the
/// classes. Throws io::Error unless the number of names is options.classes,
/// or if read_shard_classes() throws it. If options.class_names is not empty, the file may have any number of names.
std::vector<std::string> shard_class_names(const DatasetOptions& options, const std::filesystem::path& root);

}  // namespace cachet::data
