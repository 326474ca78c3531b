#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "cachet/io/images/image_report.h"
#include "cachet/io/images/image_request.h"
#include "cachet/io/images/pixel_size.h"

namespace cachet::io {

/// The most scans of a progressive file: a few kilobytes with thousands of them would take minutes.
inline constexpr int kMaxJpegScans = 100;

/// Decodes a JPEG file of 8 bits a sample, baseline or progressive, grey, YCbCr, RGB, CMYK or YCCK (the latter two as
/// Adobe stores them, inverted, and turned into RGB). `allocate` is asked once for memory, after all limits were
/// checked. What lies below the wanted region of a baseline file is not decoded, only looked through for its end.
/// Arithmetic coding is read if the libjpeg that runs reads it. The further pictures of an MPO photograph are passed
/// over. Throws Error that begins with `name` for every fault that makes pixels up: a truncated file, missing data,
/// missing tables; and for lossless and hierarchical files, 12 and 16 bits a sample, more than kMaxJpegScans scans,
/// too many pixels, and progressive files that would take more than 3 bytes for each of options.max_pixels and 64 MiB.
/// The rest (bad Huffman codes within a block, bytes after the end, odd markers) is counted as warnings, or refused
/// where options.strict. Throws std::invalid_argument for a region outside the image.
ImageReport decode_jpeg_rows(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options,
                             const std::function<uint8_t*(const PixelSize&)>& allocate);

}  // namespace cachet::io
