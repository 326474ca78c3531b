#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/data/vision/dataset_options.h"

namespace cachet::data {

/// A description of the files in a folder of CIFAR-10.
inline constexpr std::string_view kCifar10Files =
    "data_batch_1.bin to data_batch_5.bin and test_batch.bin (plain, .gz or .xz)";

enum class CifarKind { cifar10, cifar100 };

/// A view of one binary CIFAR file. Each record has one label byte (cifar10), or a coarse and a fine label byte
/// (cifar100). The label is followed by 3 · 32 · 32 pixels, by channel (https://www.cs.toronto.edu/~kriz/cifar.html).
struct CifarRecords {
  std::span<const uint8_t> bytes;
  int64_t count = 0;
  int64_t label_bytes = 1;

  int64_t label(int64_t record) const;  // the fine label for cifar100
  std::span<const uint8_t> pixels(int64_t record) const;
};

/// Parses the bytes of one file without copying them. Throws io::Error, whose message begins with `name` and names the
/// faulty record and the fault.
CifarRecords parse_cifar(CifarKind kind, std::span<const uint8_t> bytes, std::string_view name);

/// Reads the names of the classes from batches.meta.txt or fine_label_names.txt. If the file of class names is missing,
/// returns the known names of CIFAR-10, or the numbers of the classes for CIFAR-100. Throws io::Error.
std::vector<std::string> read_cifar_class_names(CifarKind kind, const std::filesystem::path& folder);

/// Reads images (N, 3, 32, 32) from data_batch_1 … 5.bin or test_batch.bin (cifar10), or from train.bin or test.bin
/// (cifar100); the files may end in .gz or .xz. The class names come from read_cifar_class_names().
std::shared_ptr<const LabelledImages> read_cifar(CifarKind kind, const std::filesystem::path& folder, Split split);

}  // namespace cachet::data
