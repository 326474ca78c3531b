// PNG images.
#include <ATen/ops/full.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/image.h"
#include "cachet/io/tensors/png.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/exif.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  for (const bool strict : {false, true}) {
    try {
      io::decode_image(std::as_bytes(input), "input",
                       {.max_pixels = 1 << 16, .strict = strict, .orientation = io::OrientationRule::apply});
    } catch (const io::Error&) {
    }
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> images;
  for (const int64_t channels : {1, 3}) {
    const auto bytes = io::encode_png(at::full({3, 5, channels}, 100, at::kByte));
    const std::string image(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    images.push_back(image);
    images.push_back(test::with_png_exif(image, static_cast<uint8_t>(4 + channels)));
    images.push_back(std::string(image).insert(image.size() - 12, image, 33, image.size() - 45));  // twice its data
  }
  return images;
}

}  // namespace cachet::fuzz
