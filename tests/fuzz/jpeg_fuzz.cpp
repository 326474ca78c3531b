// JPEG and PNG images, as wholes and in parts.
#include "cachet/io/error.h"
#include "cachet/io/tensors/image.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/exif.h"

namespace cachet::fuzz {

void read(std::span<const uint8_t> input) {
  io::ImageReadOptions options;
  options.max_pixels = 1 << 16;
  for (const bool part : {false, true}) {
    if (part) {
      options.channels = io::ImageChannels::rgb;
      options.orientation = io::OrientationRule::apply;
      options.choose = [](const io::ImageSize& size) -> io::ImageRequest {
        const io::ImageRegion middle{size.height / 3, size.width / 3, (size.height + 2) / 3, (size.width + 2) / 3};
        return {middle, {middle.height / 3, middle.width / 3}};
      };
    }
    try {
      io::decode_image(std::as_bytes(input), "input", options);
    } catch (const io::Error&) {
    }
  }
}

std::vector<std::string> seeds() {
  return {test::jpeg_file(20, 37),
          test::jpeg_file(9, 8, {.components = 1}),
          test::jpeg_file(17, 17, {.components = 4}),
          test::jpeg_file(17, 17, {.components = 4, .ycck = true}),
          test::jpeg_file(33, 40, {.horizontal = 1, .vertical = 1, .progressive = true}),
          test::jpeg_file(40, 33, {.vertical = 1, .restart_interval = 2}),
          test::jpeg_file(20, 37, {.arithmetic = true}),
          test::jpeg_file(33, 40, {.progressive = true, .arithmetic = true, .restart_interval = 2}),
          test::with_exif(test::jpeg_file(20, 37), 6),
          test::with_exif(test::jpeg_file(20, 37), 7, /*big_endian=*/true)};
}

}  // namespace cachet::fuzz
