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

/// Maximum number of scans of a progressive file. A JPEG file of a few kilobytes can have thousands of scans, and
/// decoding them would take minutes.
inline constexpr int kMaxJpegScans = 100;

/// Decodes a JPEG file of 8 bits per sample. The file may be baseline or progressive, and grey, YCbCr, RGB, CMYK or
/// YCCK (CMYK and YCCK are stored inverted, as by Adobe, and become RGB). After all limits were checked, `allocate` is
/// called once, and returns the memory for the pixels. Below the requested region, a baseline JPEG is scanned for its
/// end, but not decoded. Reads arithmetic-coded files if libjpeg supports them. Further pictures of an MPO photograph
/// are skipped. Throws Error, whose message begins with `name`, if the file does not have the data of all pixels: a
/// truncated file, missing data or missing tables. Also throws Error for lossless and hierarchical files, 12 and 16
/// bits per sample, more than kMaxJpegScans scans, too many pixels, and progressive files that need more memory than 3
/// · options.max_pixels bytes plus 64 MiB. All other faults (bad Huffman codes within a block, bytes after the end, odd
/// markers) are warnings, or errors if options.strict. Throws std::invalid_argument for a region outside the image.
ImageReport decode_jpeg_rows(std::span<const std::byte> bytes, std::string_view name, const ImageReadOptions& options,
                             const std::function<uint8_t*(const PixelSize&)>& allocate);

}  // namespace cachet::io
