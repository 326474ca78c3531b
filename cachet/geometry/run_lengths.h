#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/geometry/box.h"

namespace cachet::geometry {

/// The most pixels that a mask may have.
inline constexpr int64_t kMaxMaskPixels = (int64_t{1} << 31) - 1;

/// A mask as COCO stores it: the lengths of runs of pixels, column by column and each from top to bottom; the first run
/// is outside the object (and may have no length), the next inside, and so on.
///
/// Two masks are equal if and only if their pixels are: no run but the first is empty.
class RunLengths {
 public:
  RunLengths() = default;  // 0 × 0

  /// Of the lengths of all runs; empty ones in between are taken out. Throws std::invalid_argument for a size below
  /// 1 × 1 or above kMaxMaskPixels, and where the lengths do not add up to the number of pixels.
  RunLengths(const Size& size, std::span<const uint32_t> counts);

  /// Of the compressed form: each length as 5 bits a byte, lowest first, from the fourth on as the difference to the
  /// length two before; the bytes are 48 … 111. Throws std::invalid_argument that names the fault.
  static RunLengths from_text(const Size& size, std::string_view text);
  std::string text() const;

  /// Of height * width bytes, row by row: what is not 0 is inside. Throws std::invalid_argument for another number.
  static RunLengths of_bitmap(const Size& size, std::span<const uint8_t> pixels);
  std::vector<uint8_t> bitmap() const;  // row by row, 0 and 1

  const Size& size() const { return size_; }
  const std::vector<uint32_t>& counts() const { return counts_; }
  bool operator==(const RunLengths&) const = default;

  int64_t area() const;  // pixels inside
  SizedBox box() const;  // the least box around them; all 0 for an empty mask
  bool empty() const { return counts_.size() < 2; }

 private:
  friend class RunBuilder;

  Size size_;
  std::vector<uint32_t> counts_;
};

/// Makes a mask of runs of pixels inside, given from the first column to the last and within each from top to bottom.
class RunBuilder {
 public:
  explicit RunBuilder(const Size& size);  // throws std::invalid_argument as RunLengths does

  /// Pixels begin … end − 1, counted column by column. begin is at least the end of the run before, end at most the
  /// number of pixels.
  void add(uint64_t begin, uint64_t end);
  /// The same within one column.
  void add(int64_t column, int64_t top, int64_t bottom);
  RunLengths finish();

 private:
  RunLengths mask_;
  uint64_t end_ = 0;  // of the last run inside
};

/// Pixels inside both. Throws std::invalid_argument where sizes differ.
int64_t shared_pixels(const RunLengths& a, const RunLengths& b);

/// Intersection over union, 0 for two empty masks; with a crowd as overlap() of boxes has it.
double overlap(const RunLengths& detection, const RunLengths& truth, bool truth_is_crowd = false);

/// What is inside any of the masks, or all of them. Throws std::invalid_argument where sizes differ or there is none.
RunLengths united(std::span<const RunLengths> masks);
RunLengths intersected(std::span<const RunLengths> masks);

}  // namespace cachet::geometry
