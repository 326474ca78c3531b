#include "cachet/io/images/jpeg_codec.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

// This follows <cstdio>, from which it takes FILE and size_t.
#include <jpeglib.h>
// This follows <jpeglib.h>, whose macros list the codes of messages.
#include <jerror.h>

#include "cachet/io/error.h"
#include "cachet/io/images/image_metadata.h"
#include "cachet/io/images/luma.h"

namespace cachet::io {
namespace {

// libjpeg reports an error by a call that must not return. Ours jumps, which skips destructors: as with PNG, each
// function that calls setjmp holds nothing that has one, everything lives in the reader of its caller, and no exception
// passes through libjpeg.
struct JpegReader {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  jpeg_source_mgr source{};
  jmp_buf failed;
  const ImageReadOptions* options = nullptr;
  std::string message;  // long enough for any message of libjpeg from the start: to fill it does not allocate
  ImageReport report;
  std::span<const std::byte> bytes;  // the whole file

  // What is decoded, in pixels of the scaled image, and where it goes.
  ImageRegion wanted;
  PixelSize out;
  uint8_t* pixels = nullptr;
  JDIMENSION row_left = 0;         // of the decoded rows, which begin and end at the edge of a block
  std::vector<uint8_t> block_row;  // one row of these

  JpegReader() {
    message.reserve(JMSG_LENGTH_MAX);
    report.first_warning.reserve(JMSG_LENGTH_MAX);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&decoder); }
};

JpegReader& reader_of(j_common_ptr decoder) { return *static_cast<JpegReader*>(decoder->client_data); }

[[noreturn]] void fail_jpeg(JpegReader& reader, const char* text) {
  reader.message.assign(text, std::min<size_t>(std::strlen(text), JMSG_LENGTH_MAX));
  std::longjmp(reader.failed, 1);
}

[[noreturn]] void on_jpeg_error(j_common_ptr decoder) {
  JpegReader& reader = reader_of(decoder);
  const jpeg_error_mgr& error = *decoder->err;
  char text[JMSG_LENGTH_MAX];
  switch (error.msg_code) {
    case JERR_SOF_UNSUPPORTED:
      std::snprintf(text, sizeof(text), "%s files (frame type 0x%02x) are not supported",
                    error.msg_parm.i[0] == 0xC3 || error.msg_parm.i[0] == 0xCB ? "lossless" : "hierarchical",
                    static_cast<unsigned>(error.msg_parm.i[0]));
      break;
    case JERR_BAD_PRECISION:
      std::snprintf(text, sizeof(text), "%d bits for each sample are not supported, only 8", error.msg_parm.i[0]);
      break;
    case JERR_ARITH_NOTIMPL:
      std::snprintf(text, sizeof(text), "the installed libjpeg does not support arithmetic coding");
      break;
    case JERR_NO_BACKING_STORE:
      std::snprintf(text, sizeof(text), "decoding this progressive file needs more than %ld MiB of memory",
                    decoder->mem->max_memory_to_use >> 20);
      break;
    default:
      error.format_message(decoder, text);
  }
  fail_jpeg(reader, text);
}

#ifdef D_ARITH_CODING_SUPPORTED
constexpr int kBadArithmeticCode = JWRN_ARITH_BAD_CODE;
#else
constexpr int kBadArithmeticCode = -1;  // such files are refused
#endif

// Warnings of missing data are errors: libjpeg would fill the rest with grey. It does the same after a bad arithmetic
// code, up to the next restart marker.
void on_jpeg_message(j_common_ptr decoder, int level) {
  if (level >= 0) return;
  JpegReader& reader = reader_of(decoder);
  char text[JMSG_LENGTH_MAX];
  decoder->err->format_message(decoder, text);
  const int code = decoder->err->msg_code;
  const bool makes_pixels_up = code == JWRN_HIT_MARKER || code == JWRN_JPEG_EOF || code == kBadArithmeticCode;
  if (makes_pixels_up || reader.options->strict) fail_jpeg(reader, text);
  reader.report.warn(text);
}

void begin_source(j_decompress_ptr) {}
void end_source(j_decompress_ptr) {}

boolean refill_source(j_decompress_ptr decoder) {
  fail_jpeg(reader_of(reinterpret_cast<j_common_ptr>(decoder)), "truncated: the file is incomplete");
}

void skip_source(j_decompress_ptr decoder, long count) {
  if (count <= 0) return;
  if (static_cast<size_t>(count) > decoder->src->bytes_in_buffer) refill_source(decoder);
  decoder->src->next_input_byte += count;
  decoder->src->bytes_in_buffer -= static_cast<size_t>(count);
}

void check_scans(j_common_ptr decoder) {
  if (reinterpret_cast<j_decompress_ptr>(decoder)->input_scan_number > kMaxJpegScans) {
    fail_jpeg(reader_of(decoder), "has more than 100 scans");
  }
}

// Which of libjpeg's colour spaces the decoder is to give.
J_COLOR_SPACE output_space(const JpegReader& reader) {
  const J_COLOR_SPACE stored = reader.decoder.jpeg_color_space;
  if (stored == JCS_CMYK || stored == JCS_YCCK) return JCS_CMYK;
  if (reader.options->channels == ImageChannels::as_stored) return stored == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  return reader.options->channels == ImageChannels::grey ? JCS_GRAYSCALE : JCS_RGB;
}

// In bytes. The coefficients of a progressive file are all in memory at once, 6 bytes a pixel where its colours are in
// full: they may take what the pixels of the largest image that is read would.
long most_memory(uint64_t max_pixels) {
  constexpr uint64_t kPixelsOfAnyFile = uint64_t{65'535} * 65'535, kRest = uint64_t{64} << 20;
  return static_cast<long>(3 * std::min(max_pixels, kPixelsOfAnyFile) + kRest);
}

bool begin_jpeg(JpegReader& reader) {
  if (setjmp(reader.failed)) return false;
  jpeg_decompress_struct& decoder = reader.decoder;
  jpeg_create_decompress(&decoder);
  reader.source.init_source = begin_source;
  reader.source.fill_input_buffer = refill_source;
  reader.source.skip_input_data = skip_source;
  reader.source.resync_to_restart = jpeg_resync_to_restart;
  reader.source.term_source = end_source;
  reader.source.next_input_byte = reinterpret_cast<const JOCTET*>(reader.bytes.data());
  reader.source.bytes_in_buffer = reader.bytes.size();
  reader.progress.progress_monitor = check_scans;
  decoder.mem->max_memory_to_use = most_memory(reader.options->max_pixels);
  decoder.src = &reader.source;
  decoder.progress = &reader.progress;
  jpeg_read_header(&decoder, TRUE);
  if (decoder.jpeg_color_space == JCS_UNKNOWN)
    fail_jpeg(reader, "its colour space must be grey, YCbCr, RGB, CMYK or YCCK");
  reader.report.size = {decoder.image_height, decoder.image_width};
  if (uint64_t{decoder.image_height} * decoder.image_width > reader.options->max_pixels) {
    fail_jpeg(reader, "has more pixels than the maximum");
  }
  decoder.out_color_space = output_space(reader);
  return true;
}

// The smallest of the scales that have fast transforms at which the region is not below what is wanted.
unsigned int scale_eighths(const ImageRequest& request) {
  if (request.least.height <= 0 || request.least.width <= 0) return 8;
  for (const unsigned int eighths : {1u, 2u, 4u}) {
    if (request.region.height * eighths >= request.least.height * 8 &&
        request.region.width * eighths >= request.least.width * 8) {
      return eighths;
    }
  }
  return 8;
}

void choose_region(JpegReader& reader, const ImageRequest& request) {
  if (!request.region.fits(reader.report.size)) {
    throw std::invalid_argument("the requested region must lie inside the image of " +
                                std::to_string(reader.report.size.height) + " x " +
                                std::to_string(reader.report.size.width) + " pixels");
  }
  const unsigned int eighths = scale_eighths(request);
  reader.decoder.scale_num = eighths;
  reader.decoder.scale_denom = 8;
  const auto scaled = [eighths](int64_t place) { return (place * eighths + 4) / 8; };
  const auto side = [&](int64_t first, int64_t length, int64_t whole, int64_t& start, int64_t& count) {
    const int64_t scaled_whole = (whole * eighths + 7) / 8;  // as libjpeg rounds
    start = std::min(scaled(first), scaled_whole - 1);
    count = std::clamp<int64_t>(scaled(first + length) - start, 1, scaled_whole - start);
  };
  const ImageRegion& region = request.region;
  side(region.top, region.height, reader.report.size.height, reader.wanted.top, reader.wanted.height);
  side(region.left, region.width, reader.report.size.width, reader.wanted.left, reader.wanted.width);
  const J_COLOR_SPACE space = reader.decoder.out_color_space;
  const bool is_grey = space == JCS_GRAYSCALE || (space == JCS_CMYK && reader.options->channels == ImageChannels::grey);
  reader.out = {static_cast<uint32_t>(reader.wanted.height), static_cast<uint32_t>(reader.wanted.width),
                is_grey ? 1u : 3u};
}

// Starts decoding. In wide images only the blocks that hold the region are decoded, and one more on each side:
// upsampling the colours takes the neighbours of a pixel.
bool start_jpeg(JpegReader& reader) {
  if (setjmp(reader.failed)) return false;
  jpeg_decompress_struct& decoder = reader.decoder;
  jpeg_start_decompress(&decoder);
  const auto left = static_cast<JDIMENSION>(reader.wanted.left), width = static_cast<JDIMENSION>(reader.wanted.width);
  reader.row_left = left;
  if (width < decoder.output_width) {
    constexpr JDIMENSION kMargin = 2;
    JDIMENSION first = left > kMargin ? left - kMargin : 0;
    JDIMENSION count = std::min(left + width + kMargin, decoder.output_width) - first;
    jpeg_crop_scanline(&decoder, &first, &count);
    reader.row_left = left - first;
  }
  return true;
}

// As Adobe stores CMYK, 255 is not ink: R = C·K / 255, to the nearest.
void rgb_of_inverted_cmyk(const uint8_t* cmyk, uint32_t width, uint8_t* rgb) {
  const auto times = [](unsigned ink, unsigned black) {
    const unsigned product = ink * black + 128;
    return static_cast<uint8_t>((product + (product >> 8)) >> 8);
  };
  for (uint32_t x = 0; x < width; ++x, cmyk += 4, rgb += 3) {
    for (int c = 0; c < 3; ++c) rgb[c] = times(cmyk[c], cmyk[3]);
  }
}

void put_row(const JpegReader& reader, const uint8_t* row, uint8_t* out) {
  if (reader.decoder.out_color_space != JCS_CMYK) {
    std::memcpy(out, row, reader.out.row_bytes());
    return;
  }
  if (reader.out.channels == 3) return rgb_of_inverted_cmyk(row, reader.out.width, out);
  for (uint32_t x = 0; x < reader.out.width; ++x) {
    uint8_t rgb[3];
    rgb_of_inverted_cmyk(row + 4 * x, 1, rgb);
    out[x] = luma(rgb[0], rgb[1], rgb[2]);
  }
}

// Whether the rest of a file that was not decoded to its last row holds the marker of its end. In what lies between,
// the two bytes of the marker do not occur.
bool has_end(const JpegReader& reader) {
  if (reader.decoder.unread_marker == JPEG_EOI) return true;
  constexpr uint8_t kEnd[] = {0xFF, JPEG_EOI};
  const std::span left(reader.source.next_input_byte, reader.source.bytes_in_buffer);
  return std::ranges::search(left, kEnd).size() == 2;
}

// Whether what follows the end of the image is the next picture of an MPO photograph; there may be zeros before it.
bool has_next_picture(const JpegReader& reader) {
  constexpr uint8_t kStart[] = {0xFF, 0xD8, 0xFF};
  const std::span left(reader.source.next_input_byte, reader.source.bytes_in_buffer);
  const auto next = std::ranges::find_if(left, [](JOCTET byte) { return byte != 0; });
  return static_cast<size_t>(left.end() - next) > std::size(kStart) &&
         std::ranges::equal(std::span(next, std::size(kStart)), kStart) &&
         image_metadata(reader.bytes).has_more_pictures;
}

bool read_jpeg_rows(JpegReader& reader) {
  if (setjmp(reader.failed)) return false;
  jpeg_decompress_struct& decoder = reader.decoder;
  const auto top = static_cast<JDIMENSION>(reader.wanted.top);
  if (top > 0) jpeg_skip_scanlines(&decoder, top);
  const bool direct = reader.block_row.empty();
  for (uint32_t y = 0; y < reader.out.height; ++y) {
    uint8_t* out = reader.pixels + y * reader.out.row_bytes();
    JSAMPROW row = direct ? out : reader.block_row.data();
    jpeg_read_scanlines(&decoder, &row, 1);
    if (!direct) put_row(reader, row + reader.row_left * static_cast<size_t>(decoder.output_components), out);
  }
  if (decoder.output_scanline < decoder.output_height) {
    if (!jpeg_has_multiple_scans(&decoder) && !has_end(reader)) refill_source(&decoder);
    return true;
  }
  jpeg_finish_decompress(&decoder);
  if (reader.source.bytes_in_buffer > 0 && !has_next_picture(reader)) {
    const char* text = "extra bytes follow the image";
    if (reader.options->strict) fail_jpeg(reader, text);
    reader.report.warn(text);
  }
  return true;
}

}  // namespace

ImageReport decode_jpeg_rows(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options,
                             const std::function<uint8_t*(const PixelSize&)>& allocate) {
  JpegReader reader;
  reader.options = &options;
  reader.bytes = bytes;
  reader.decoder.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = on_jpeg_error;
  reader.errors.emit_message = on_jpeg_message;
  reader.decoder.client_data = &reader;
  const auto check = [&](bool went_well) {
    if (!went_well) throw Error(std::string(name) + ": JPEG: " + reader.message);
  };
  check(begin_jpeg(reader));
  choose_region(reader, options.choose ? options.choose(reader.report.size)
                                       : ImageRequest{ImageRegion::whole(reader.report.size), {}});
  check(start_jpeg(reader));
  const bool direct = reader.decoder.output_width == reader.out.width && reader.decoder.out_color_space != JCS_CMYK;
  if (!direct) {
    reader.block_row.resize(size_t{reader.decoder.output_width} *
                            static_cast<size_t>(reader.decoder.output_components));
  }
  reader.pixels = allocate(reader.out);
  check(read_jpeg_rows(reader));
  return std::move(reader.report);
}

}  // namespace cachet::io
