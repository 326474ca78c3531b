// PNG images.
#include <ATen/ops/full.h>

#include "cachet/io/error.h"
#include "cachet/io/png.h"
#include "tests/fuzz/fuzz_target.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  try {
    io::decode_png(std::as_bytes(input), "input", /*max_pixels=*/1 << 16);
  } catch (const io::Error&) {
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> images;
  for (const int64_t channels : {1, 3}) {
    const auto bytes = io::encode_png(at::full({3, 5, channels}, 100, at::kByte));
    images.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return images;
}

}  // namespace cachet::fuzz
