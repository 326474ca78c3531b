#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/geometry/box.h"

namespace cachet::geometry {

/// The largest number of pixels of a mask.
inline constexpr int64_t kMaxMaskPixels = (int64_t{1} << 31) - 1;

/// A mask in COCO's form: the lengths of runs of pixels, column by column, from top to bottom. The first run consists
/// of pixels outside the object (and may be empty), the second run consists of pixels inside the object, and so on.
///
/// No run of pixels except the first may be empty, so that two masks are equal if and only if their pixels are equal.
class RunLengths {
 public:
  RunLengths() = default;  // a mask of 0 × 0 pixels

  /// Makes a mask from the lengths of all its runs of pixels. Removes empty runs, except an empty first run. Throws
  /// std::invalid_argument if the size is below 1 × 1 or above kMaxMaskPixels, or if the sum of the lengths is not the
  /// number of pixels.
  RunLengths(const Size& size, std::span<const uint32_t> counts);

  /// Reads COCO's compressed form: bytes 48 … 111 with 5 bits of a length each, lowest bits first. From the fourth
  /// length on, the text stores differences: each length minus the length two positions earlier. Throws
  /// std::invalid_argument, which names the fault, for an invalid text.
  static RunLengths from_text(const Size& size, std::string_view text);
  std::string text() const;

  /// Reads height · width bytes row by row. A byte that is not zero marks a pixel inside the object. Throws
  /// std::invalid_argument if the number of bytes is not height · width.
  static RunLengths of_bitmap(const Size& size, std::span<const uint8_t> pixels);
  std::vector<uint8_t> bitmap() const;  // bytes 0 and 1, row by row

  const Size& size() const { return size_; }
  const std::vector<uint32_t>& counts() const { return counts_; }
  bool operator==(const RunLengths&) const = default;

  int64_t area() const;  // number of pixels inside the object
  SizedBox box() const;  // smallest box around the object; all 0 for an empty mask
  bool empty() const { return counts_.size() < 2; }

 private:
  friend class RunBuilder;

  Size size_;
  std::vector<uint32_t> counts_;
};

/// Builds a mask from runs of pixels inside the object. The runs of pixels must be added in the order of COCO's files:
/// column by column, and from top to bottom in each column.
class RunBuilder {
 public:
  explicit RunBuilder(const Size& size);  // throws std::invalid_argument for an invalid size

  /// Adds a run of pixels: the indices begin … end − 1 of pixels in column order. `begin` must be at least the `end` of
  /// the previous run, and `end` must be at most the number of pixels.
  void add(uint64_t begin, uint64_t end);
  /// Adds the pixels top … bottom − 1 of one column.
  void add(int64_t column, int64_t top, int64_t bottom);
  RunLengths finish();

 private:
  RunLengths mask_;
  uint64_t end_ = 0;  // end of the last run of inside pixels
};

/// Returns the number of pixels inside both masks. Throws std::invalid_argument if the sizes of the masks differ.
int64_t shared_pixels(const RunLengths& a, const RunLengths& b);

/// Returns the intersection over union of two masks, or 0 if both are empty. If `truth` is a crowd, the result is
/// computed as in overlap() of boxes.
double overlap(const RunLengths& detection, const RunLengths& truth, bool truth_is_crowd = false);

/// Returns the union or intersection of the masks. Throws std::invalid_argument if there are no masks, or if the masks
/// have different sizes.
RunLengths united(std::span<const RunLengths> masks);
RunLengths intersected(std::span<const RunLengths> masks);

}  // namespace cachet::geometry
