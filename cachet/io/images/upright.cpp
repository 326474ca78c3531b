#include "cachet/io/images/upright.h"

#include <algorithm>
#include <cstddef>

namespace cachet::io {
namespace {

// A row of the upright picture is a column of the stored one.
bool is_transposed(int orientation) { return orientation >= 5; }

// Stored rows follow each other from the last to the first; likewise columns.
bool has_reversed_rows(int orientation) {
  return orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
}
bool has_reversed_columns(int orientation) {
  return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
}

ImageSize transposed(const ImageSize& size) { return {size.width, size.height}; }

}  // namespace

ImageSize upright_size(const ImageSize& stored, int orientation) {
  return is_transposed(orientation) ? transposed(stored) : stored;
}

ImageRequest stored_request(const ImageRequest& upright, const ImageSize& stored, int orientation) {
  ImageRequest request = upright;
  if (is_transposed(orientation)) {
    const ImageRegion& region = upright.region;
    request.region = {region.left, region.top, region.width, region.height};
    request.least = transposed(upright.least);
  }
  ImageRegion& region = request.region;
  if (has_reversed_rows(orientation)) region.top = stored.height - region.top - region.height;
  if (has_reversed_columns(orientation)) region.left = stored.width - region.left - region.width;
  return request;
}

void turn_upright(const uint8_t* stored, const PixelSize& size, int orientation, uint8_t* upright) {
  const auto height = static_cast<ptrdiff_t>(size.height), width = static_cast<ptrdiff_t>(size.width),
             channels = static_cast<ptrdiff_t>(size.channels);
  // Where the pixel of the upper left corner is stored, and how far the next pixel of a stored column and row is.
  ptrdiff_t first = 0, down = width * channels, right = channels;
  if (has_reversed_rows(orientation)) {
    first += (height - 1) * down;
    down = -down;
  }
  if (has_reversed_columns(orientation)) {
    first += (width - 1) * right;
    right = -right;
  }
  const bool swapped = is_transposed(orientation);
  const ptrdiff_t rows = swapped ? width : height, columns = swapped ? height : width;
  const ptrdiff_t next_row = swapped ? right : down, next_column = swapped ? down : right;
  for (ptrdiff_t y = 0; y < rows; ++y) {
    const uint8_t* pixel = stored + first + y * next_row;
    for (ptrdiff_t x = 0; x < columns; ++x, pixel += next_column) upright = std::copy_n(pixel, channels, upright);
  }
}

}  // namespace cachet::io
