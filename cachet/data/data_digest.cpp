#include "cachet/data/data_digest.h"

#include <sys/stat.h>

#include "cachet/data/fingerprint.h"
#include "cachet/data/many_files.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/images/image_format.h"

namespace cachet::data {
namespace {

struct FileState {
  int64_t size = -1, seconds = 0, nanoseconds = 0;
};

FileState state_of(const std::filesystem::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};  // the reader of the file reports why
  return {found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

std::vector<FileState> states_of(const std::filesystem::path& folder, std::span<const std::string> names) {
  std::vector<FileState> states(names.size());
  look_at_files(names.size(), [&](size_t i) { states[i] = state_of(folder / names[i]); });
  return states;
}

}  // namespace

std::string DataDigest::identity() const { return Fingerprint().add(contents).add(files).text(); }

DataChange change_of(const DataDigest& before, const DataDigest& now) {
  const bool both_have_texts = !before.texts.empty() && !now.texts.empty();
  if (before.contents != now.contents || (both_have_texts && before.texts != now.texts)) return DataChange::contents;
  if (before.files != now.files) return DataChange::files;
  return before.times != now.times ? DataChange::times : DataChange::none;
}

FileDigests digests_of_files(const std::filesystem::path& folder, std::span<const std::string> names) {
  const std::vector<FileState> states = states_of(folder, names);
  Fingerprint sizes, times;
  for (size_t i = 0; i < names.size(); ++i) {
    sizes.add(names[i]).add(states[i].size);
    times.add(states[i].seconds).add(states[i].nanoseconds);
  }
  return {sizes.text(), times.text()};
}

std::string digest_of(std::span<const std::byte> bytes) { return io::sha256_hex(bytes).substr(0, 16); }

std::string digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

std::string digest_of_image_file(const std::filesystem::path& file) {
  try {
    return digest_of(io::read_file(file, io::kMaxImageFileBytes));
  } catch (const io::Error&) {
    return kUnreadable;
  }
}

}  // namespace cachet::data
