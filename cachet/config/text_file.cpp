#include "cachet/config/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "cachet/config/near_names.h"

namespace cachet::config {
namespace {

class Descriptor {
 public:
  // O_NONBLOCK: opening a pipe that nobody writes to would wait forever.
  explicit Descriptor(const std::filesystem::path& path)
      : value_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int value() const { return value_; }

 private:
  int value_;
};

std::string reason() { return "cannot be read: " + std::string(std::strerror(errno)); }

/// Recipes next to a missing one whose names are near its own.
std::string near_files(const std::filesystem::path& missing) {
  constexpr size_t kMaxLookedAt = 1000;
  std::vector<std::string> names;
  std::error_code ignored;
  const auto folder = missing.has_parent_path() ? missing.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end; entry.increment(ignored)) {
    if (ignored || names.size() == kMaxLookedAt) break;
    if (entry->path().extension() == ".toml") names.push_back(entry->path().stem().string());
  }
  std::vector<std::string> near = near_names(missing.stem().string(), names);
  for (std::string& name : near) name += ".toml";
  return did_you_mean(near);
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path, int64_t most_bytes) {
  const Descriptor file(path);
  if (file.value() < 0) {
    if (errno == ENOENT) throw UnreadableFile("there is no such file" + near_files(path));
    throw UnreadableFile(reason());
  }
  struct stat status;
  if (fstat(file.value(), &status) != 0) throw UnreadableFile(reason());
  if (S_ISDIR(status.st_mode)) throw UnreadableFile("is a folder; give a file");
  if (!S_ISREG(status.st_mode)) throw UnreadableFile("is not a regular file");

  // The size may change under us, so the bytes that arrive are counted too: one more than allowed is enough to know.
  std::string text;
  const auto too_large = [&] { return UnreadableFile("is larger than " + std::to_string(most_bytes) + " bytes"); };
  if (status.st_size > most_bytes) throw too_large();
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(file.value(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw UnreadableFile(reason());
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
    if (static_cast<int64_t>(text.size()) > most_bytes) throw too_large();
  }
}

}  // namespace cachet::config
