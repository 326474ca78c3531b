// IDX files of images and of labels: what is taken must have sizes that add up. The first byte chooses the reader.
#include <algorithm>
#include <cstdlib>

#include "cachet/data/vision/idx.h"
#include "cachet/io/error.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {
namespace {

constexpr int64_t kClasses = 10;

void read_images(std::span<const uint8_t> bytes) {
  const data::IdxImages images = data::parse_idx_images(bytes, "input");
  const auto promised = static_cast<uint64_t>(images.count * images.height * images.width);
  if (promised != images.pixels.size() || promised == 0 || promised + 16 != bytes.size()) std::abort();
  if (images.pixels.data() != bytes.data() + 16) std::abort();
}

void read_labels(std::span<const uint8_t> bytes) {
  const auto labels = data::parse_idx_labels(bytes, "input", kClasses);
  if (labels.empty() || labels.size() + 8 != bytes.size()) std::abort();
  if (std::ranges::any_of(labels, [](uint8_t label) { return label >= kClasses; })) std::abort();
}

}  // namespace

void read(std::span<const uint8_t> input) {
  if (input.empty()) return;
  try {
    input[0] % 2 == 0 ? read_images(input.subspan(1)) : read_labels(input.subspan(1));
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  return {"\0\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04"s + std::string(24, '\1'),
          "\1\0\0\x08\x01\0\0\0\x05"s + std::string(5, '\2')};
}

}  // namespace cachet::fuzz
