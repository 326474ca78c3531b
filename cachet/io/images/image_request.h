#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace cachet::io {

inline constexpr uint64_t kMaxImagePixels = 89'478'485;  // as Pillow has it
[[deprecated("kMaxImagePixels")]] inline constexpr uint64_t kMostImagePixels = kMaxImagePixels;

/// In pixels.
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

/// What is wanted of an image once its size is known.
struct ImageRequest {
  ImageRegion region;
  /// A JPEG decoder may hand the region over at 1/2, 1/4 or 1/8 of its size, rounded to whole pixels, as long as
  /// neither side of it falls below this. 0 × 0 asks for the full size.
  ImageSize least;
};

/// Chooses from the size that a file states, before its pixels are decoded.
using ImageChooser = std::function<ImageRequest(const ImageSize& size)>;

enum class ImageChannels { as_stored, grey, rgb };

/// The treatment of the orientation in a file's EXIF block.
enum class OrientationRule {
  ignore,  // the picture is given as it is stored
  apply,   // the picture is given upright: regions and sizes are those of the upright picture
};

struct ImageReadOptions {
  ImageChannels channels = ImageChannels::as_stored;
  uint64_t max_pixels = kMaxImagePixels;  // more are refused before memory for them is taken
  bool strict = false;                    // what a decoder only warns of is an error
  ImageChooser choose{};                  // without one, the whole image at its full size
  OrientationRule orientation = OrientationRule::ignore;
  /// Gets the bytes of a file before they are decoded, whether or not they can be.
  std::function<void(std::span<const std::byte> bytes)> see_bytes{};
};

}  // namespace cachet::io
