// Any bytes as an IDX file, of images or of labels: refused with an io::Error, or taken with sizes that add up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cachet/data/vision/idx.h"
#include "cachet/io/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int64_t kClasses = 10;
  const std::span<const uint8_t> bytes(data, size);
  try {
    const auto images = cachet::data::parse_idx_images(bytes, "fuzz");
    const auto promised = static_cast<uint64_t>(images.count * images.height * images.width);
    if (images.count < 1 || promised != images.pixels.size() || images.pixels.size() + 16 != size) std::abort();
  } catch (const cachet::io::Error&) {
  }
  try {
    const auto labels = cachet::data::parse_idx_labels(bytes, "fuzz", kClasses);
    if (labels.size() + 8 != size) std::abort();
    for (const uint8_t label : labels) {
      if (label >= kClasses) std::abort();
    }
  } catch (const cachet::io::Error&) {
  }
  return 0;
}
