#pragma once

#include <cstddef>
#include <span>

namespace cachet::io {

/// Metadata of the picture in a JPEG or PNG file.
struct ImageMetadata {
  /// The value of EXIF's tag Orientation, 1 to 8 (cachet/io/images/upright.h); 1 if the tag is missing or its value is
  /// not valid.
  int orientation = 1;
  /// Whether the file is an MPO photograph (CIPA DC-007): a JPEG file that is followed by further JPEG pictures.
  bool has_more_pictures = false;
};

/// Reads the first EXIF block of a JPEG file (APP1) or of a PNG file (chunk eXIf), as OpenCV does. Never throws: a
/// damaged block is ignored, and a file of another kind has no metadata.
ImageMetadata image_metadata(std::span<const std::byte> bytes);

}  // namespace cachet::io
