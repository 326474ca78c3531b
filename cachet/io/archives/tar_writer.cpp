#include "cachet/io/archives/tar_writer.h"

#include <string>
#include <system_error>

#include "cachet/io/archives/tar_header.h"

namespace cachet::io {
namespace {

constexpr uint64_t kRecord = 20 * kTarBlock;  // tar writes whole records

uint64_t padding(uint64_t size, uint64_t unit) { return (unit - size % unit) % unit; }

const std::filesystem::path& new_path(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, error)))
    throw Error(path.string() + ": exists already");
  return path;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TarWriter::TarWriter(const std::filesystem::path& path, FileSystem& file_system) : file_(new_path(path), file_system) {}

void TarWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  file_.append(text_of(make_tar_header(name, bytes.size())));
  file_.append(text_of(bytes));
  const std::string zeros(padding(bytes.size(), kTarBlock), '\0');
  file_.append(zeros);
  written_ += kTarBlock + bytes.size() + zeros.size();
}

uint64_t TarWriter::size() const { return size_with({}); }

uint64_t TarWriter::size_with(std::span<const uint64_t> sizes) const {
  uint64_t with_end = written_ + 2 * kTarBlock;
  for (const uint64_t size : sizes) with_end += kTarBlock + size + padding(size, kTarBlock);
  return with_end + padding(with_end, kRecord);
}

void TarWriter::finish() {
  file_.append(std::string(size() - written_, '\0'));
  file_.sync();
}

}  // namespace cachet::io
