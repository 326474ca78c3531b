#include "cachet/data/vision/cifar.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>

#include "cachet/data/data_file.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

constexpr size_t kPixelBytes = 3 * 32 * 32;
constexpr uint64_t kMaxCifarBytes = uint64_t{1} << 28;  // the largest, train.bin of CIFAR-100, holds 154 MB
constexpr uint64_t kMaxNameListBytes = uint64_t{1} << 16;

struct CifarLayout {
  int64_t classes;
  size_t label_bytes;
  std::string names_file;
  std::vector<std::string> train_files;
  std::string test_file;
};

CifarLayout cifar_layout(CifarKind kind) {
  if (kind == CifarKind::cifar100) return {100, 2, "fine_label_names.txt", {"train.bin"}, "test.bin"};
  return {10,
          1,
          "batches.meta.txt",
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
          "test_batch.bin"};
}

std::vector<std::string> default_class_names(CifarKind kind) {
  if (kind == CifarKind::cifar10) {
    return {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }
  std::vector<std::string> names(100);
  for (size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
  return names;
}

}  // namespace

int64_t CifarRecords::label(int64_t record) const {
  const size_t record_bytes = static_cast<size_t>(label_bytes) + kPixelBytes;
  return bytes[static_cast<size_t>(record) * record_bytes + static_cast<size_t>(label_bytes) - 1];
}

std::span<const uint8_t> CifarRecords::pixels(int64_t record) const {
  const size_t record_bytes = static_cast<size_t>(label_bytes) + kPixelBytes;
  return bytes.subspan(static_cast<size_t>(record) * record_bytes + static_cast<size_t>(label_bytes), kPixelBytes);
}

CifarRecords parse_cifar(CifarKind kind, std::span<const uint8_t> bytes, std::string_view name) {
  const CifarLayout layout = cifar_layout(kind);
  const size_t record_bytes = layout.label_bytes + kPixelBytes;
  const size_t count = bytes.size() / record_bytes;
  const auto refuse = [name](size_t record, const std::string& problem) {
    throw io::Error(std::string(name) + ": record " + std::to_string(record) + ": " + problem);
  };
  if (bytes.empty()) throw io::Error(std::string(name) + ": the file is empty");
  if (bytes.size() % record_bytes != 0) {
    refuse(count, "the file ends after " + std::to_string(bytes.size() % record_bytes) + " of its " +
                      std::to_string(record_bytes) + " bytes");
  }
  const CifarRecords records{bytes, static_cast<int64_t>(count), static_cast<int64_t>(layout.label_bytes)};
  for (int64_t i = 0; i < records.count; ++i) {
    if (records.label(i) >= layout.classes) {
      refuse(static_cast<size_t>(i),
             "label " + std::to_string(records.label(i)) + " is not below " + std::to_string(layout.classes));
    }
    const uint8_t coarse = bytes[static_cast<size_t>(i) * record_bytes];
    if (kind == CifarKind::cifar100 && coarse >= 20) {
      refuse(static_cast<size_t>(i), "coarse label " + std::to_string(coarse) + " is not below 20");
    }
  }
  return records;
}

std::vector<std::string> parse_class_names(std::string_view text, int64_t expected, std::string_view name) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    names.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  if (static_cast<int64_t>(names.size()) != expected) {
    throw io::Error(std::string(name) + ": " + std::to_string(names.size()) +
                    " class names, one a line, where there are " + std::to_string(expected) + " classes");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const bool control = std::ranges::any_of(names[i], [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (names[i].empty() || names[i].size() > 100 || control) {
      throw io::Error(std::string(name) + ":" + std::to_string(i + 1) +
                      ": a class name is 1 to 100 characters without control characters");
    }
  }
  return names;
}

StoredImages read_cifar(CifarKind kind, const std::filesystem::path& folder, Split split) {
  const CifarLayout layout = cifar_layout(kind);
  std::vector<std::string> names = default_class_names(kind);
  if (has_data_file(folder, layout.names_file)) {
    const DataFile file = read_data_file(folder, layout.names_file, kMaxNameListBytes);
    const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
    names = parse_class_names(text, layout.classes, file.path.string());
  }
  std::vector<std::string> file_names = layout.train_files;
  if (split == Split::test) file_names = {layout.test_file};
  // One file at a time is held unpacked beside the images.
  std::vector<at::Tensor> parts;
  std::vector<int64_t> labels;
  for (const std::string& file_name : file_names) {
    const DataFile file = read_data_file(folder, file_name, kMaxCifarBytes);
    const CifarRecords records = parse_cifar(kind, file.bytes, file.path.string());
    parts.push_back(at::empty({records.count, 3, 32, 32}, at::kByte));
    uint8_t* out = parts.back().mutable_data_ptr<uint8_t>();
    for (int64_t i = 0; i < records.count; ++i) {
      out = std::ranges::copy(records.pixels(i), out).out;
      labels.push_back(records.label(i));
    }
  }
  return {parts.size() == 1 ? parts.front() : at::cat(parts), std::move(labels), std::move(names)};
}

}  // namespace cachet::data
