#include "cachet/io/images/jpeg_encoder.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

// This follows <cstdio>, of which it takes FILE and size_t.
#include <jpeglib.h>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

// As in decoding: libjpeg reports an error by a jump, so that whoever calls setjmp holds nothing that has a destructor.
struct JpegWriter {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  jmp_buf failed;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  char message[JMSG_LENGTH_MAX] = "";

  JpegWriter() = default;
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;
  ~JpegWriter() {
    jpeg_destroy_compress(&encoder);
    std::free(bytes);
  }
};

[[noreturn]] void on_encoder_error(j_common_ptr encoder) {
  auto& writer = *static_cast<JpegWriter*>(encoder->client_data);
  encoder->err->format_message(encoder, writer.message);
  std::longjmp(writer.failed, 1);
}

bool encode(JpegWriter& writer, const uint8_t* pixels, const PixelSize& size, int quality) {
  jpeg_compress_struct& encoder = writer.encoder;
  encoder.err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = on_encoder_error;
  encoder.client_data = &writer;
  if (setjmp(writer.failed) != 0) return false;
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &writer.bytes, &writer.size);
  encoder.image_width = size.width;
  encoder.image_height = size.height;
  encoder.input_components = static_cast<int>(size.channels);
  encoder.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, quality, TRUE);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    JSAMPROW row =
        const_cast<JSAMPROW>(pixels + encoder.next_scanline * size.row_bytes());  // libjpeg does not write it
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  return true;
}

}  // namespace

std::vector<std::byte> encode_jpeg_rows(const uint8_t* pixels, const PixelSize& size, int quality) {
  if (quality < 1 || quality > 100)
    throw std::invalid_argument("the quality of a JPEG file must be 1 to 100, not " + std::to_string(quality));
  const bool sides =
      size.width >= 1 && size.height >= 1 && size.width <= JPEG_MAX_DIMENSION && size.height <= JPEG_MAX_DIMENSION;
  if (!sides || (size.channels != 1 && size.channels != 3))
    throw std::invalid_argument("a JPEG file cannot have " + std::to_string(size.width) + " × " +
                                std::to_string(size.height) + " pixels with " + std::to_string(size.channels) +
                                " channels; it must have 1 or 3 channels and sides of 1 to 65500 pixels");
  JpegWriter writer;
  if (!encode(writer, pixels, size, quality))
    throw Error(std::string("libjpeg cannot encode an image: ") + writer.message);
  const auto* bytes = reinterpret_cast<const std::byte*>(writer.bytes);
  return {bytes, bytes + writer.size};
}

}  // namespace cachet::io
