#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

// This follows <cstdio>, of which it takes FILE.
#include <jpeglib.h>

// JPEG files made in memory, whole ones to start from and to damage.
namespace cachet::test {

struct JpegKind {
  int components = 3;  // 1 grey, 3 YCbCr, 4 CMYK
  bool ycck = false;
  int horizontal = 2, vertical = 2;  // how many brightness samples share a colour sample
  bool progressive = false;
  bool arithmetic = false;
  unsigned int restart_interval = 0;  // in blocks
  int quality = 90;
};

/// Slopes that go up and down, `components` values a pixel.
inline std::vector<uint8_t> jpeg_pixels(int height, int width, int components) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < components; ++c) {
        const int place = (5 * x + 3 * y + 37 * c) % 360;
        pixels.push_back(static_cast<uint8_t>(40 + (place < 180 ? place : 360 - place) + (7 * x + 13 * y) % 5));
      }
    }
  }
  return pixels;
}

inline std::string jpeg_file(int height, int width, const JpegKind& kind = {}) {
  const std::vector<uint8_t> pixels = jpeg_pixels(height, width, kind.components);
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);  // ends the program on an error, which no test provokes
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_height = static_cast<JDIMENSION>(height);
  encoder.image_width = static_cast<JDIMENSION>(width);
  encoder.input_components = kind.components;
  encoder.in_color_space = kind.components == 1 ? JCS_GRAYSCALE : kind.components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&encoder);
  if (kind.ycck) jpeg_set_colorspace(&encoder, JCS_YCCK);
  jpeg_set_quality(&encoder, kind.quality, TRUE);
  if (kind.components == 3) {
    encoder.comp_info[0].h_samp_factor = kind.horizontal;
    encoder.comp_info[0].v_samp_factor = kind.vertical;
  }
  if (kind.progressive) jpeg_simple_progression(&encoder);
  encoder.arith_code = kind.arithmetic ? TRUE : FALSE;
  encoder.restart_interval = kind.restart_interval;
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    const size_t row_bytes = static_cast<size_t>(width) * static_cast<size_t>(kind.components);
    auto* row = const_cast<uint8_t*>(pixels.data()) + encoder.next_scanline * row_bytes;
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  std::string file(reinterpret_cast<const char*>(memory), size);
  std::free(memory);
  return file;
}

/// Where the first marker 0xFF `code` of a file's headers lies; npos where there is none.
inline size_t jpeg_marker(const std::string& file, uint8_t code) {
  const auto byte = [&](size_t at) { return static_cast<size_t>(static_cast<uint8_t>(file.at(at))); };
  size_t at = 2;
  while (at + 4 <= file.size() && byte(at) == 0xFF) {
    if (byte(at + 1) == code) return at;
    if (byte(at + 1) == 0xDA) break;
    at += 2 + 256 * byte(at + 2) + byte(at + 3);
  }
  return std::string::npos;
}

/// How many bytes a segment has, its marker counted.
inline size_t jpeg_segment_size(const std::string& file, size_t at) {
  return 2 + 256 * static_cast<size_t>(static_cast<uint8_t>(file.at(at + 2))) +
         static_cast<size_t>(static_cast<uint8_t>(file.at(at + 3)));
}

inline std::string without_jpeg_segments(std::string file, uint8_t code) {
  for (size_t at = jpeg_marker(file, code); at != std::string::npos; at = jpeg_marker(file, code)) {
    file.erase(at, jpeg_segment_size(file, at));
  }
  return file;
}

/// The file with bytes of the first segment of that marker replaced, `offset` counted from the marker.
inline std::string with_jpeg_bytes(std::string file, uint8_t code, size_t offset, const std::string& bytes) {
  return file.replace(jpeg_marker(file, code) + offset, bytes.size(), bytes);
}

inline std::string inserted_before(std::string file, uint8_t code, const std::string& bytes) {
  return file.insert(jpeg_marker(file, code), bytes);
}

}  // namespace cachet::test
