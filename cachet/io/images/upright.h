#pragma once

#include <cstdint>

#include "cachet/io/images/image_request.h"
#include "cachet/io/images/pixel_size.h"

/// The operation that makes a stored picture upright, by the value of EXIF's tag Orientation:
///   1: as it is stored,          5: transposed,
///   2: mirrored left to right,   6: turned clockwise by 90°,
///   3: turned by 180°,           7: transposed along the other diagonal,
///   4: mirrored top to bottom,   8: turned counterclockwise by 90°.
namespace cachet::io {

/// Returns the size of the upright picture.
ImageSize upright_size(const ImageSize& stored, int orientation);

/// Converts a request for the upright picture into a request for the stored picture.
ImageRequest stored_request(const ImageRequest& upright, const ImageSize& stored, int orientation);

/// Writes the upright pixels to `upright`, which has room for as many bytes as `stored` and does not overlap it.
void turn_upright(const uint8_t* stored, const PixelSize& size, int orientation, uint8_t* upright);

}  // namespace cachet::io
