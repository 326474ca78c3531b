#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/io/files/byte_source.h"

namespace cachet::data {

/// An image in a shard, and its class.
struct ShardSample {
  std::string name;    // of the member with the image
  uint64_t begin = 0;  // position of the image's first byte in the shard
  uint64_t size = 0;   // size of the image file in bytes
  int64_t label = 0;
  bool operator==(const ShardSample&) const = default;
};

/// The size of a file and the time of its last modification. If both are equal, the file counts as unchanged.
struct FileVersion {
  uint64_t size = 0;
  int64_t nanoseconds = 0;  // since the epoch of the clock
  bool operator==(const FileVersion&) const = default;
};
/// Throws io::Error if the file does not exist.
FileVersion version_of(const std::filesystem::path& file);

/// The samples of a shard, in the order of the shard.
struct ShardIndex {
  std::vector<ShardSample> samples{};
  int64_t others = 0;         // number of members that are neither images nor classes
  std::string first_other{};  // name of the first of these members
  bool operator==(const ShardIndex&) const = default;
};

/// The parts of a member's name: the key, which is the name up to the first dot after the last '/', and the ending in
/// lower case, without its dot.
struct MemberName {
  std::string key, ending;
  /// Whether the name has more before its dot than a folder: "a/.cls" has no key.
  bool has_key() const { return !key.empty() && !key.ends_with('/'); }
};
MemberName split_member_name(const std::string& name);

/// Makes the index of a tar shard in WebDataset's layout. Members with the same key are a sample. The key is the name
/// up to the first dot after the last '/'. A sample has one image (KEY.jpg, .jpeg, .jpe, .jfif or .png) and its class
/// (KEY.cls, a decimal number). Throws io::Error, which names the shard and the member, for the faults that
/// io::for_each_tar_member() refuses, a sample without an image or without a class, a second image or class, a key that
/// occurs again later in the shard, and a class that is not a number.
ShardIndex make_shard_index(const io::ByteSource& shard, const std::string& name);

/// Returns the text of an index file.
std::string to_text(const ShardIndex& index, const FileVersion& shard);
/// Parses the text of an index file. Returns std::nullopt if the text is damaged, or if the index is not that of this
/// version of the shard.
std::optional<ShardIndex> parse_shard_index(std::string_view text, const FileVersion& shard);

/// The end of the name of an index file.
inline constexpr const char* kIndexEnding = ".index";
/// Returns the path of a shard's index file: the path of the shard with kIndexEnding at its end.
std::filesystem::path index_path(const std::filesystem::path& shard);

/// Reads the index of a shard from its index file. If the index file is missing, damaged or older than the shard, makes
/// the index, and writes the index file atomically. If the index file cannot be written, because the folder is
/// read-only or its disk is full, the index is only in memory. Throws io::Error like make_shard_index().
ShardIndex read_shard_index(const std::filesystem::path& shard);

}  // namespace cachet::data
