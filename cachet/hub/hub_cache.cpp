#include "cachet/hub/hub_cache.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "cachet/hub/folders.h"
#include "cachet/hub/remote_name.h"
#include "cachet/io/error.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/read_file.h"

namespace cachet::hub {
namespace {

namespace fs = std::filesystem;

// The text by which programs that save disks leave caches out (bford.info/cachedir).
constexpr std::string_view kCacheTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# This file is a cache directory tag for the Hugging Face hub.\n";

std::string folder_name(std::string repository) {
  const size_t slash = repository.find('/');
  if (slash != std::string::npos) repository.replace(slash, 1, "--");
  return "models--" + repository;
}

}  // namespace

HubCache::HubCache(fs::path cache, const std::string& repository)
    : cache_(std::move(cache)), folder_(cache_ / folder_name(repository)), name_(folder_name(repository)) {}

std::optional<std::string> HubCache::commit_of(const std::string& revision) const {
  if (is_commit(revision)) return revision;
  constexpr uint64_t kMaxBytes = 1024;
  const fs::path file = folder_ / "refs" / revision;
  std::error_code absent;
  if (!fs::is_regular_file(file, absent)) return std::nullopt;
  std::string commit = io::read_text_file(file, kMaxBytes);
  while (!commit.empty() && std::isspace(static_cast<unsigned char>(commit.back()))) commit.pop_back();
  return is_commit(commit) ? std::optional(commit) : std::nullopt;
}

void HubCache::set_commit(const std::string& revision, const std::string& commit) const {
  if (revision == commit || commit_of(revision) == commit) return;
  const fs::path file = folder_ / "refs" / revision;
  make_folders(file.parent_path());
  io::write_file_atomically(file, commit);
  if (const fs::path tag = cache_ / "CACHEDIR.TAG"; !fs::exists(tag)) io::write_file_atomically(tag, kCacheTag);
}

fs::path HubCache::snapshot(const std::string& commit) const { return folder_ / "snapshots" / commit; }

std::optional<fs::path> HubCache::find(const std::string& commit, const std::string& file) const {
  const fs::path path = snapshot(commit) / file;
  std::error_code absent;
  return fs::is_regular_file(path, absent) ? std::optional(path) : std::nullopt;
}

fs::path HubCache::blob(const std::string& etag) const { return folder_ / "blobs" / etag; }

fs::path HubCache::lock(const std::string& etag) const { return cache_ / ".locks" / name_ / (etag + ".lock"); }

fs::path HubCache::link(const std::string& commit, const std::string& file, const std::string& etag) const {
  const fs::path path = snapshot(commit) / file;
  if (find(commit, file)) return path;
  make_folders(path.parent_path());
  const fs::path temporary = io::temporary_path(path);
  fs::create_symlink(blob(etag).lexically_relative(path.parent_path()), temporary);
  io::rename_durably(temporary, path);
  return path;
}

}  // namespace cachet::hub
