#include "cachet/data/vision/cifar.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <future>
#include <utility>

#include "cachet/data/data_file.h"
#include "cachet/data/vision/class_names.h"
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
      refuse(static_cast<size_t>(i), "label " + std::to_string(records.label(i)) +
                                         " must be below the number of classes, " + std::to_string(layout.classes));
    }
    const uint8_t coarse = bytes[static_cast<size_t>(i) * record_bytes];
    if (kind == CifarKind::cifar100 && coarse >= 20) {
      refuse(static_cast<size_t>(i),
             "coarse label " + std::to_string(coarse) + " must be below the number of coarse classes, 20");
    }
  }
  return records;
}

namespace {

struct CifarPart {
  at::Tensor images;  // (N, 3, 32, 32) uint8
  std::vector<int64_t> labels;
};

CifarPart read_cifar_file(CifarKind kind, const std::filesystem::path& folder, const std::string& file_name) {
  const DataFile file = read_data_file(folder, file_name, kMaxCifarBytes);
  const CifarRecords records = parse_cifar(kind, file.bytes, file.path.string());
  CifarPart part{at::empty({records.count, 3, 32, 32}, at::kByte), {}};
  auto* out = part.images.mutable_data_ptr<uint8_t>();
  for (int64_t i = 0; i < records.count; ++i) {
    out = std::ranges::copy(records.pixels(i), out).out;
    part.labels.push_back(records.label(i));
  }
  return part;
}

}  // namespace

std::vector<std::string> read_cifar_class_names(CifarKind kind, const std::filesystem::path& folder) {
  const CifarLayout layout = cifar_layout(kind);
  if (!has_data_file(folder, layout.names_file))
    return kind == CifarKind::cifar10 ? cifar10_class_names() : numbered_class_names(layout.classes);
  const DataFile file = read_data_file(folder, layout.names_file, kMaxNameListBytes);
  const std::string_view text(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size());
  return parse_class_names(text, layout.classes, file.path.string());
}

std::shared_ptr<const LabelledImages> read_cifar(CifarKind kind, const std::filesystem::path& folder, Split split) {
  const CifarLayout layout = cifar_layout(kind);
  std::vector<std::string> names = read_cifar_class_names(kind, folder);
  std::vector<std::string> file_names = layout.train_files;
  if (split == Split::test) file_names = {layout.test_file};
  // Unpacking xz is most of the work, and the files are apart.
  std::vector<std::future<CifarPart>> readers;
  for (const std::string& file_name : file_names) {
    readers.push_back(std::async(std::launch::async, [&] { return read_cifar_file(kind, folder, file_name); }));
  }
  std::vector<at::Tensor> images;
  std::vector<int64_t> labels;
  for (auto& reader : readers) {
    CifarPart part = reader.get();
    images.push_back(std::move(part.images));
    labels.insert(labels.end(), part.labels.begin(), part.labels.end());
  }
  return std::make_shared<LabelledImages>(
      std::make_shared<StoredImages>(images.size() == 1 ? images.front() : at::cat(images)),
      ClassLabels(std::move(labels), std::move(names)));
}

}  // namespace cachet::data
