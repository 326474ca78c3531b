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

/// A view of an IDX file of images (magic 0x00000803). Each pixel is one byte, and pixels are stored row by row.
struct IdxImages {
  int64_t count = 0, height = 0, width = 0;
  std::span<const uint8_t> pixels;  // count · height · width bytes
};

/// Parses the bytes of an IDX file (big-endian header, then data; http://yann.lecun.com/exdb/mnist) without copying.
/// Throws io::Error, whose message starts with `name` and names the fault and the position of the faulty byte.
IdxImages parse_idx_images(std::span<const uint8_t> bytes, std::string_view name);
std::span<const uint8_t> parse_idx_labels(std::span<const uint8_t> bytes, std::string_view name, int64_t classes);

/// Reads `train-` or `t10k-` `images-idx3-ubyte` and `labels-idx1-ubyte` (plain, .gz or .xz) of a folder: (N, 1, H, W).
std::shared_ptr<const LabelledImages> read_idx(const std::filesystem::path& folder, Split split,
                                               std::vector<std::string> class_names);

}  // namespace cachet::data
