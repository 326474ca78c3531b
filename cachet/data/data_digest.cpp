#include "cachet/data/data_digest.h"

#include <sys/stat.h>

#include <algorithm>
#include <future>

#include "cachet/data/fingerprint.h"
#include "cachet/io/error.h"
#include "cachet/io/image.h"
#include "cachet/io/read_file.h"
#include "cachet/io/sha256.h"

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

/// Several threads ask, because a network's file system takes a millisecond to answer.
std::vector<FileState> states_of(const std::filesystem::path& folder, std::span<const std::string> names) {
  constexpr size_t kThreads = 16, kLeastOfThread = 4096;
  std::vector<FileState> states(names.size());
  const size_t of_thread = std::max(kLeastOfThread, (names.size() + kThreads - 1) / kThreads);
  std::vector<std::future<void>> parts;
  for (size_t begin = 0; begin < names.size(); begin += of_thread)
    parts.push_back(std::async(begin == 0 ? std::launch::deferred : std::launch::async, [&, begin] {
      const size_t end = std::min(names.size(), begin + of_thread);
      for (size_t i = begin; i < end; ++i) states[i] = state_of(folder / names[i]);
    }));
  for (std::future<void>& part : parts) part.get();
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

std::string digest_of(std::span<const std::byte> bytes) { return io::hex(io::sha256(bytes)).substr(0, 16); }

std::string digest_of(std::string_view text) { return digest_of(std::as_bytes(std::span(text))); }

std::string digest_of_image_file(const std::filesystem::path& file) {
  try {
    return digest_of(io::read_file(file, io::kMostImageFileBytes));
  } catch (const io::Error&) {
    return kUnreadable;
  }
}

}  // namespace cachet::data
