#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cachet::data {

/// Digests of 16 hexadecimal digits that differ if the data of a split are other data. They do not depend on the folder
/// that the data lie in.
struct DataDigest {
  /// The form of these digests. Digests of another form are not compared with them.
  static constexpr int64_t kVersion = 2;

  std::string contents{};  // all labels, tokens, annotations, and all pixels of files that hold many images
  std::string texts{};     // all bytes of texts; empty where there are no texts, or files of tokens were read instead
  std::string files{};     // names and sizes of image files, whose bytes are not in it; empty where there are none
  std::string times{};     // modification times of these files

  /// The digest of contents and files, without times and texts, which affect neither training nor evaluation.
  std::string identity() const;
  bool operator==(const DataDigest&) const = default;
};

/// How data differ from data that were there before.
enum class DataChange {
  none,
  times,     // nothing but modification times of image files differs
  files,     // names, number or sizes of image files differ
  contents,  // labels, texts or annotations differ
};
/// The largest change. Texts are compared where both digests have them.
DataChange change_of(const DataDigest& before, const DataDigest& now);

/// Digests of the names, sizes and times of files below a folder. A file that is not there has the size −1.
struct FileDigests {
  std::string names_and_sizes, times;
};
FileDigests digests_of_files(const std::filesystem::path& folder, std::span<const std::string> names);

/// The digest of bytes: 16 hexadecimal digits.
std::string digest_of(std::span<const std::byte> bytes);
std::string digest_of(std::string_view text);
/// The digest of the bytes that an image file has now; kUnreadable if it cannot be read.
inline constexpr const char* kUnreadable = "unreadable";
std::string digest_of_image_file(const std::filesystem::path& file);

}  // namespace cachet::data
