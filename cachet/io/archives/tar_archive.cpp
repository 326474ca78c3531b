#include "cachet/io/archives/tar_archive.h"

#include <algorithm>
#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cachet/io/archives/libarchive.h"
#include "cachet/io/archives/tar_header.h"
#include "cachet/io/error.h"
#include "cachet/io/files/git_lfs.h"

namespace cachet::io {
namespace {

constexpr size_t kReadBytes = size_t{16} << 10;
/// tar fills its last record with zeros. A record has 10 KiB unless the user of tar chose another size.
constexpr uint64_t kMaxPadding = uint64_t{1} << 20;

struct Compression {
  std::string_view magic, name, command;
};
constexpr std::array<Compression, 4> kCompressions{{{"\x1f\x8b", "gzip", "gunzip"},
                                                    {"\xfd"
                                                     "7zXZ",
                                                     "xz", "unxz"},
                                                    {"\x28\xb5\x2f\xfd", "Zstandard", "unzstd"},
                                                    {"BZh", "bzip2", "bunzip2"}}};

/// The archive as libarchive's callbacks read it. An exception must not leave a callback.
class Input {
 public:
  explicit Input(const ByteSource& source) : source_(source) {}

  static la_ssize_t read(::archive*, void* self, const void** bytes) {
    Input& input = *static_cast<Input*>(self);
    const auto count = static_cast<size_t>(std::min<uint64_t>(kReadBytes, input.left()));
    try {
      input.source_.read_at(input.position_, std::span(input.bytes_).first(count));
    } catch (...) {
      input.error_ = std::current_exception();
      return ARCHIVE_FATAL;
    }
    input.position_ += count;
    *bytes = input.bytes_.data();
    return static_cast<la_ssize_t>(count);
  }

  static la_int64_t skip(::archive*, void* self, la_int64_t request) {
    Input& input = *static_cast<Input*>(self);
    if (request <= 0) return 0;
    const uint64_t count = std::min(static_cast<uint64_t>(request), input.left());
    input.position_ += count;
    return static_cast<la_int64_t>(count);
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  uint64_t left() const { return source_.size() - position_; }

  const ByteSource& source_;
  uint64_t position_ = 0;
  std::array<std::byte, kReadBytes> bytes_;
  std::exception_ptr error_;
};

/// The fault of a member's name, or std::nullopt.
std::optional<std::string> fault_of_name(std::string_view name, const TarLimits& limits) {
  if (name.empty()) return "has no name";
  if (name.size() > limits.name_bytes)
    return "has a name of " + std::to_string(name.size()) + " bytes; the maximum is " +
           std::to_string(limits.name_bytes);
  if (name.front() == '/') return "has an absolute path";
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return "has a path that leads out of the archive";
    begin = end + 1;
  }
  if (std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    return "has control characters in its name";
  return std::nullopt;
}

std::string short_name(std::string_view name) {
  constexpr size_t kShownBytes = 100;
  return in_quotes(name.size() <= kShownBytes ? name : name.substr(0, kShownBytes)) +
         (name.size() > kShownBytes ? "…" : "");
}

class TarReader {
 public:
  TarReader(const ByteSource& source, const std::string& name, const TarLimits& limits)
      : source_(source), name_(name), limits_(limits), input_(source) {}

  void read(const std::function<void(TarMember&& member)>& use) {
    refuse_other_files();
    open();
    uint64_t end = 0;  // of the last member, with the zeros that fill its last block
    uint64_t count = 0;
    while (::archive_entry* entry = next(end)) {
      const uint64_t begin = static_cast<uint64_t>(functions_.filter_bytes(archive_.get(), -1));
      std::optional<TarMember> member = checked(entry, begin);
      end = begin + (member ? rounded(member->size) : 0);
      if (++count > limits_.members)
        throw Error(name_ + ": has more than " + std::to_string(limits_.members) + " members");
      if (member) use(*std::move(member));
    }
    check_end(end);
  }

 private:
  static uint64_t rounded(uint64_t size) { return (size + kTarBlock - 1) / kTarBlock * kTarBlock; }

  [[noreturn]] void fail(std::string_view member, uint64_t position, const std::string& fault) const {
    throw Error(name_ + ": byte " + std::to_string(position) + ": the member " + short_name(member) + " " + fault);
  }

  void refuse_other_files() const {
    if (source_.size() == 0) throw Error(name_ + ": the file is empty");
    std::array<std::byte, 64> start{};
    const auto bytes = std::span(start).first(static_cast<size_t>(std::min<uint64_t>(start.size(), source_.size())));
    source_.read_at(0, bytes);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    for (const Compression& compression : kCompressions)
      if (text.starts_with(compression.magic))
        throw Error(name_ + ": is compressed with " + std::string(compression.name) + "; unpack it with " +
                    std::string(compression.command) + ", because samples are read from their positions in the file");
    if (text.starts_with(kGitLfsPointer)) throw Error(name_ + ": " + kIsGitLfsPointer);
  }

  void open() {
    archive_.reset(functions_.read_new());
    if (!archive_) throw std::bad_alloc();
    functions_.read_support_format_tar(archive_.get());
    const int result = functions_.read_open2(archive_.get(), &input_, nullptr, &Input::read, &Input::skip, nullptr);
    if (result != ARCHIVE_OK) fail_reading(0);
  }

  [[noreturn]] void fail_reading(uint64_t position) const {
    input_.rethrow();
    const char* reason = functions_.error_string(archive_.get());
    std::string text = reason == nullptr ? "libarchive cannot read the archive" : reason;
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    throw Error(name_ + ": byte " + std::to_string(position) + ": is not a readable tar archive: " + text);
  }

  /// Returns the next member, or null at the end.
  ::archive_entry* next(uint64_t position) const {
    ::archive_entry* entry = nullptr;
    const int result = functions_.read_next_header(archive_.get(), &entry);
    if (result == ARCHIVE_EOF) {
      input_.rethrow();
      return nullptr;
    }
    // libarchive converts names to the encoding of the locale, and warns if it cannot.
    const char* reason = functions_.error_string(archive_.get());
    const bool is_name = reason != nullptr && std::string_view(reason).find("converted") != std::string_view::npos;
    if (result != ARCHIVE_OK && !(result == ARCHIVE_WARN && is_name)) fail_reading(position);
    return entry;
  }

  /// Returns a regular file, and std::nullopt for a folder.
  std::optional<TarMember> checked(::archive_entry* entry, uint64_t begin) const {
    const char* text = functions_.entry_pathname(entry);
    if (text == nullptr) text = functions_.entry_pathname_utf8(entry);
    std::string name = text == nullptr ? "" : text;
    const uint64_t header = begin - std::min<uint64_t>(begin, kTarBlock);
    const auto refuse = [&](const std::string& fault) { fail(name, header, fault); };
    const bool is_folder = functions_.entry_filetype(entry) == AE_IFDIR;
    while (name.starts_with("./")) name.erase(0, 2);
    if (is_folder && (name.empty() || name == ".")) return std::nullopt;
    if (const auto fault = fault_of_name(name, limits_)) refuse(*fault);
    if (functions_.entry_hardlink(entry) != nullptr || functions_.entry_filetype(entry) == AE_IFLNK)
      refuse("is a link; only regular files are read");
    if (is_folder) return std::nullopt;
    if (functions_.entry_filetype(entry) != AE_IFREG) refuse("is not a regular file");
    if (functions_.entry_sparse_count(entry) > 0) refuse("is a sparse file; only files with all their bytes are read");
    const int64_t size = functions_.entry_size(entry);
    if (size < 0) refuse("has a negative size");
    check_header(begin, static_cast<uint64_t>(size), refuse);
    if (begin > source_.size() || static_cast<uint64_t>(size) > source_.size() - begin)
      refuse("has " + std::to_string(size) + " bytes, but the archive ends after " +
             std::to_string(begin > source_.size() ? 0 : source_.size() - begin) + " of them");
    return TarMember{std::move(name), begin, static_cast<uint64_t>(size)};
  }

  /// Compares libarchive's result with the header in the block before the data.
  template <class Refuse>
  void check_header(uint64_t begin, uint64_t size, const Refuse& refuse) const {
    if (begin < kTarBlock || begin > source_.size()) refuse("has no header");
    std::array<std::byte, kTarBlock> block;
    source_.read_at(begin - kTarBlock, block);
    const auto header = parse_tar_header(block);
    if (!header) refuse("has data that do not follow its header");
    if (header->type == 'S') refuse("is a sparse file; only files with all their bytes are read");
    if (header->type != '0' && header->type != '\0') refuse("is not a regular file");
    if (header->size != size)
      refuse("has two sizes in its headers, " + std::to_string(header->size) + " and " + std::to_string(size) +
             " bytes");
  }

  /// An archive ends with two blocks of zeros. Without them, it may have lost members.
  void check_end(uint64_t end) const {
    const uint64_t size = source_.size();
    if (end > size || size - end < 2 * kTarBlock)
      throw Error(
          name_ + ": byte " + std::to_string(std::min(end, size)) +
          ": the file ends without the two blocks of zeros at the end of a tar archive, so it may be truncated");
    const uint64_t left = size - end;
    std::array<std::byte, kReadBytes> bytes;
    for (uint64_t done = 0; done < std::min(left, kMaxPadding);) {
      const auto piece = std::span(bytes).first(static_cast<size_t>(std::min<uint64_t>(bytes.size(), left - done)));
      source_.read_at(end + done, piece);
      const auto other = std::ranges::find_if(piece, [](std::byte byte) { return byte != std::byte{0}; });
      if (other != piece.end())
        throw Error(name_ + ": byte " + std::to_string(end + done + static_cast<uint64_t>(other - piece.begin())) +
                    ": bytes follow the end of the archive");
      done += piece.size();
    }
    if (left > kMaxPadding)
      throw Error(name_ + ": byte " + std::to_string(end) + ": " + std::to_string(left) +
                  " bytes follow the end of the archive");
  }

  struct Free {
    void operator()(::archive* archive) const { libarchive().read_free(archive); }
  };

  const ByteSource& source_;
  const std::string& name_;
  const TarLimits& limits_;
  Input input_;
  const Libarchive& functions_ = libarchive();
  std::unique_ptr<::archive, Free> archive_;
};

}  // namespace

void for_each_tar_member(const ByteSource& source, const std::string& name,
                         const std::function<void(TarMember&& member)>& use, const TarLimits& limits) {
  TarReader(source, name, limits).read(use);
}

}  // namespace cachet::io
