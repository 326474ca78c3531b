#include "cachet/data/vision/idx.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/data_file.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

// Far above any data set of this format (EMNIST holds 0.6 GB), far below what hurts.
constexpr uint64_t kMaxIdxBytes = uint64_t{1} << 30;
constexpr uint32_t kMaxSide = 4096;

[[noreturn]] void refuse_idx(std::string_view name, size_t byte, const std::string& problem) {
  throw io::Error(std::string(name) + ": byte " + std::to_string(byte) + ": " + problem);
}

uint32_t big_endian(std::span<const uint8_t> bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

// Checks the four bytes of magic, that the header is whole, and that the data fill the file; returns the dimensions.
template <size_t rank>
std::array<uint32_t, rank> parse_idx_header(std::span<const uint8_t> bytes, std::string_view name,
                                            std::string_view content) {
  constexpr size_t kHeader = 4 + 4 * rank;
  if (bytes.size() < 4) refuse_idx(name, bytes.size(), "the file ends within the first 4 bytes");
  if (bytes[0] != 0 || bytes[1] != 0)
    refuse_idx(name, 0, "this is not an IDX file: it does not start with two zero bytes");
  if (bytes[2] != 0x08) {
    refuse_idx(name, 2,
               "element type " + std::to_string(bytes[2]) + " is not supported; it must be 8 (unsigned bytes)");
  }
  if (bytes[3] != rank) {
    refuse_idx(name, 3,
               std::to_string(bytes[3]) + " dimensions, but " + std::string(content) + " have " + std::to_string(rank));
  }
  if (bytes.size() < kHeader) {
    refuse_idx(name, bytes.size(), "the file ends within the header of " + std::to_string(kHeader) + " bytes");
  }
  std::array<uint32_t, rank> dims;
  for (size_t d = 0; d < rank; ++d) {
    dims[d] = big_endian(bytes, 4 + 4 * d);
    if (dims[d] == 0) refuse_idx(name, 4 + 4 * d, "dimension " + std::to_string(d) + " is 0");
    if (d > 0 && dims[d] > kMaxSide) {
      refuse_idx(name, 4 + 4 * d,
                 "an image cannot have a side of " + std::to_string(dims[d]) + " pixels; the maximum is " +
                     std::to_string(kMaxSide));
    }
  }
  uint64_t expected = 1;  // at most 2^32 · 2^12 · 2^12: no overflow
  for (const uint32_t dim : dims) expected *= dim;
  const uint64_t found = bytes.size() - kHeader;
  if (found < expected) {
    refuse_idx(name, bytes.size(),
               "the file ends after " + std::to_string(found) + " bytes of data, but its header states " +
                   std::to_string(expected));
  }
  if (found > expected) {
    refuse_idx(name, kHeader + static_cast<size_t>(expected),
               std::to_string(found - expected) + " bytes follow the end of the data");
  }
  return dims;
}

}  // namespace

IdxImages parse_idx_images(std::span<const uint8_t> bytes, std::string_view name) {
  const auto [count, height, width] = parse_idx_header<3>(bytes, name, "images");
  return {count, height, width, bytes.subspan(16)};
}

std::span<const uint8_t> parse_idx_labels(std::span<const uint8_t> bytes, std::string_view name, int64_t classes) {
  parse_idx_header<1>(bytes, name, "labels");
  const std::span<const uint8_t> labels = bytes.subspan(8);
  const auto wrong = std::ranges::find_if(labels, [classes](uint8_t label) { return label >= classes; });
  if (wrong != labels.end()) {
    const auto index = static_cast<size_t>(wrong - labels.begin());
    refuse_idx(name, 8 + index,
               "label " + std::to_string(*wrong) + " of image " + std::to_string(index) +
                   " must be below the number of classes, " + std::to_string(classes));
  }
  return labels;
}

std::shared_ptr<const LabelledImages> read_idx(const std::filesystem::path& folder, Split split,
                                               std::vector<std::string> class_names) {
  const std::string prefix = split == Split::train ? "train" : "t10k";
  const DataFile label_file = read_data_file(folder, prefix + "-labels-idx1-ubyte", kMaxIdxBytes);
  const auto labels =
      parse_idx_labels(label_file.bytes, label_file.path.string(), static_cast<int64_t>(class_names.size()));
  const DataFile image_file = read_data_file(folder, prefix + "-images-idx3-ubyte", kMaxIdxBytes);
  const IdxImages images = parse_idx_images(image_file.bytes, image_file.path.string());
  if (images.count != static_cast<int64_t>(labels.size())) {
    throw io::Error(image_file.path.string() + " has " + config::counted(images.count, "image") + ", but " +
                    label_file.path.filename().string() + " has " + config::counted(labels.size(), "label"));
  }
  at::Tensor pixels = at::empty({images.count, 1, images.height, images.width}, at::kByte);
  std::ranges::copy(images.pixels, pixels.mutable_data_ptr<uint8_t>());
  return std::make_shared<LabelledImages>(std::make_shared<StoredImages>(std::move(pixels)),
                                          ClassLabels({labels.begin(), labels.end()}, std::move(class_names)));
}

}  // namespace cachet::data
