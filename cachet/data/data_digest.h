#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// The digests of a split's data. Each digest has 16 hexadecimal digits. If the data of two splits differ, their
/// digests differ. The digests do not depend on the folder of the data.
struct DataDigest {
  /// Version of the method that computes digests. Digests with different values of kVersion are not compared.
  static constexpr int64_t kVersion = 2;

  std::string contents{};  // all labels, tokens, annotations, and all pixels of files that hold many images
  std::string texts{};     // all bytes of texts; empty if there are no texts, or if files of tokens were read instead
  std::string files{};     // names and sizes of image files, without their bytes; empty if there are no image files
  std::string times{};     // modification times of the image files

  /// Returns one digest of the members `contents` and `files`. The digest leaves out the members `times` and `texts`,
  /// because they do not affect training or evaluation.
  std::string identity() const;
  bool operator==(const DataDigest&) const = default;
};

/// The difference between the present data and the data of an earlier digest.
enum class DataChange {
  none,
  times,     // only modification times of image files differ
  files,     // names, number or sizes of image files differ
  contents,  // labels, texts or annotations differ
};
/// Returns the greatest DataChange between two digests, in the order of the enumeration. The members `texts` are
/// compared only if neither is empty.
DataChange change_of(const DataDigest& before, const DataDigest& now);

/// Digests of the names, sizes and times of files below a folder. A missing file has the size −1.
struct FileDigests {
  std::string names_and_sizes, times;
};
FileDigests digests_of_files(const std::filesystem::path& folder, std::span<const std::string> names);

/// Returns the digest of bytes: 16 hexadecimal digits.
std::string digest_of(std::span<const std::byte> bytes);
std::string digest_of(std::string_view text);
/// Returns the digest of the bytes that an image file has now, or kUnreadable if the file cannot be read.
inline constexpr const char* kUnreadable = "unreadable";
std::string digest_of_image_file(const std::filesystem::path& file);

}  // namespace cachet::data
