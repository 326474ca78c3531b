#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cachet::io {

inline constexpr uint64_t kMaxImagePixels = 89'478'485;  // the limit of Pillow
[[deprecated("kMaxImagePixels")]] inline constexpr uint64_t kMostImagePixels = kMaxImagePixels;

/// A size in pixels.
struct ImageSize {
  int64_t height = 0, width = 0;
  bool operator==(const ImageSize&) const = default;
};

/// A rectangle of an image, in its pixels.
struct ImageRegion {
  int64_t top = 0, left = 0, height = 0, width = 0;
  bool operator==(const ImageRegion&) const = default;

  static ImageRegion whole(const ImageSize& size) { return {0, 0, size.height, size.width}; }
  bool fits(const ImageSize& size) const {
    return top >= 0 && left >= 0 && height >= 1 && width >= 1 && height <= size.height - top &&
           width <= size.width - left;
  }
};

/// The part and the resolution of an image that a caller requests, given the size of the image.
struct ImageRequest {
  ImageRegion region;
  /// Minimum size of the decoded region. A JPEG decoder may return the region at 1/2, 1/4 or 1/8 of its size, rounded
  /// to whole pixels, if neither side falls below the minimum size. 0 × 0 requests the full size.
  ImageSize least;
};

/// Chooses the part and resolution to decode. A decoder calls this function with the size that the file states.
using ImageChooser = std::function<ImageRequest(const ImageSize& size)>;

enum class ImageChannels { as_stored, grey, rgb };

/// The treatment of the orientation in a file's EXIF block.
enum class OrientationRule {
  ignore,  // the picture is returned as it is stored
  apply,   // the picture is returned upright: regions and sizes refer to the upright picture
};

struct ImageReadOptions {
  ImageChannels channels = ImageChannels::as_stored;
  uint64_t max_pixels = kMaxImagePixels;  // a larger image is refused before memory is allocated for it
  bool strict = false;                    // whether warnings of the decoder are errors
  ImageChooser choose{};                  // empty: the whole image at its full size
  OrientationRule orientation = OrientationRule::ignore;
  /// A function that gets the bytes of a file before they are decoded, whether or not they can be decoded.
  std::function<void(std::span<const std::byte> bytes)> see_bytes{};
};

}  // namespace cachet::io
