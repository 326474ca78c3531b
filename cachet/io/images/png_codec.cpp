#include "cachet/io/images/png_codec.h"

#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <new>
#include <string>

#include "cachet/io/error.h"

namespace cachet::io {
namespace {

// libpng reports an error by longjmp, which skips destructors. So each function that calls setjmp holds nothing that
// has one: everything is in an object of its caller, and no callback lets an exception pass through libpng.
struct PngState {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string message;  // long enough for any message of libpng from the start: to fill it does not allocate

  PngState() { message.reserve(256); }
  PngState(const PngState&) = delete;
  PngState& operator=(const PngState&) = delete;
};

void on_png_error(png_structp png, png_const_charp text) {
  auto* state = static_cast<PngState*>(png_get_error_ptr(png));
  state->message.assign(text, std::min<size_t>(std::strlen(text), 200));
  png_longjmp(png, 1);
}

void ignore_png_warning(png_structp, png_const_charp) {}

struct PngReader : PngState {
  std::span<const std::byte> left;
  const ImageReadOptions* options = nullptr;
  PixelSize size;
  uint8_t* pixels = nullptr;
  int passes = 1;
  ImageReport report;

  PngReader() { report.first_warning.reserve(256); }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

// While pixels are read, libpng reports compressed data that are left over as a warning. All other warnings about the
// pixels are faults of theirs.
void on_png_warning(png_structp png, png_const_charp text) {
  constexpr std::array<const char*, 3> kLeftovers{"Extra compressed data", "Too much image data",
                                                  "Too many IDATs found"};
  auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
  const bool left_over = std::ranges::any_of(kLeftovers, [&](const char* part) { return std::strstr(text, part); });
  if (left_over && !reader->options->strict) {
    reader->report.warn("has more compressed data than its pixels need");
  } else if (left_over || std::strncmp(text, "IDAT", 4) == 0) {
    png_error(png, text);
  }
}

void take_png_bytes(png_structp png, png_bytep to, size_t count) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (count > reader->left.size()) png_error(png, "truncated: the file is incomplete");
  std::memcpy(to, reader->left.data(), count);
  reader->left = reader->left.subspan(count);
}

// Every bad checksum is an error, and so is what libpng would tolerate in the pixels. Chunks that do not affect the
// pixels (text, colour profiles, times) are skipped, so that nothing in them can cost memory or fail.
bool begin_png(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_read_fn(reader.png, &reader, take_png_bytes);
  png_set_crc_action(reader.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_benign_errors(reader.png, 0);
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(reader.png, 1 << 20);
  png_read_info(reader.png, reader.info);
  reader.size.height = png_get_image_height(reader.png, reader.info);
  reader.size.width = png_get_image_width(reader.png, reader.info);
  if (uint64_t{reader.size.height} * reader.size.width > reader.options->max_pixels) {
    png_error(reader.png, "has more pixels than the maximum");
  }
  png_set_expand(reader.png);
  png_set_scale_16(reader.png);
  png_set_strip_alpha(reader.png);
  reader.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  reader.size.channels = png_get_channels(reader.png, reader.info);
  const uint64_t row_bytes = reader.size.row_bytes();
  const bool is_expected = reader.size.channels == 1 || reader.size.channels == 3;
  if (!is_expected || png_get_rowbytes(reader.png, reader.info) != row_bytes) png_error(reader.png, "unknown layout");
  return true;
}

// After the last row libpng has read the chunk in which the compressed data end. It skips further chunks of compressed
// data without a word.
void note_chunks_left_over(PngReader& reader) {
  constexpr size_t kLength = 4, kHead = 8;  // of a chunk: its length, then its name
  if (reader.left.size() < kHead) return;
  const bool empty =
      std::ranges::all_of(reader.left.first(kLength), [](std::byte byte) { return byte == std::byte{0}; });
  if (!empty && std::memcmp(reader.left.data() + kLength, "IDAT", kHead - kLength) == 0)
    png_warning(reader.png, "Too many IDATs found");
}

bool read_png_rows(PngReader& reader) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_set_benign_errors(reader.png, 1);  // they come to on_png_warning
  const size_t row_bytes = reader.size.row_bytes();
  for (int pass = 0; pass < reader.passes; ++pass) {
    for (uint32_t row = 0; row < reader.size.height; ++row) {
      png_read_row(reader.png, reader.pixels + row * row_bytes, nullptr);
    }
  }
  note_chunks_left_over(reader);
  png_read_end(reader.png, nullptr);
  return true;
}

struct PngWriter : PngState {
  const uint8_t* pixels = nullptr;
  PixelSize size;
  std::vector<std::byte> bytes;
  bool is_out_of_memory = false;

  ~PngWriter() { png_destroy_write_struct(&png, &info); }

  bool append(const std::byte* data, size_t count) noexcept try {
    bytes.insert(bytes.end(), data, data + count);
    return true;
  } catch (const std::bad_alloc&) {
    is_out_of_memory = true;
    return false;
  }
};

void append_png_bytes(png_structp png, png_bytep data, size_t count) {
  auto* writer = static_cast<PngWriter*>(png_get_io_ptr(png));
  if (!writer->append(reinterpret_cast<const std::byte*>(data), count)) png_error(png, "out of memory");
}

bool write_png_rows(PngWriter& writer) {
  if (setjmp(png_jmpbuf(writer.png))) return false;
  png_set_write_fn(writer.png, &writer, append_png_bytes, nullptr);
  png_set_IHDR(writer.png, writer.info, writer.size.width, writer.size.height, 8,
               writer.size.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  const size_t row_bytes = writer.size.row_bytes();
  for (uint32_t row = 0; row < writer.size.height; ++row) png_write_row(writer.png, writer.pixels + row * row_bytes);
  png_write_end(writer.png, nullptr);
  return true;
}

}  // namespace

std::vector<std::byte> encode_png_rows(const uint8_t* pixels, const PixelSize& size) {
  PngWriter writer;
  writer.pixels = pixels;
  writer.size = size;
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_png_error, ignore_png_warning);
  if (writer.png != nullptr) writer.info = png_create_info_struct(writer.png);
  if (writer.info == nullptr) throw std::bad_alloc();
  if (write_png_rows(writer)) return std::move(writer.bytes);
  if (writer.is_out_of_memory) throw std::bad_alloc();
  throw Error("PNG: " + writer.message);
}

ImageReport decode_png_rows(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options,
                            const std::function<uint8_t*(const PixelSize&)>& allocate) {
  const std::string start = std::string(name) + ": ";
  PngReader reader;
  reader.left = bytes;
  reader.options = &options;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_png_error, on_png_warning);
  if (reader.png != nullptr) reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) throw std::bad_alloc();
  if (!begin_png(reader)) throw Error(start + "PNG: " + reader.message);
  reader.report.size = {reader.size.height, reader.size.width};
  reader.pixels = allocate(reader.size);
  if (!read_png_rows(reader)) throw Error(start + "PNG: " + reader.message);
  if (!reader.left.empty()) {
    const std::string text = std::to_string(reader.left.size()) + " extra bytes follow the PNG image";
    if (options.strict) throw Error(start + text);
    reader.report.warn(text.c_str());
  }
  return std::move(reader.report);
}

}  // namespace cachet::io
