#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cachet::data {

/// What is wrong with single annotations of a file that is otherwise good.
enum class CocoFault {
  // The annotation is left out.
  unknown_image,     // of an image that the file does not list
  unknown_category,  // likewise
  repeated_id,       // of an annotation before
  odd_box,           // not four numbers, or one that is not finite or beyond ±2^26, or a negative side
  odd_area,          // not finite or negative
  // The annotation stays without what is wrong; where nothing is left of its segmentation, it has no mask.
  short_polygon,  // fewer than three corners, or an odd number of coordinates
  odd_polygon,    // a corner that is not finite or beyond ±2^26, or edges to and fro over millions of columns
  odd_runs,       // run lengths that do not make a mask of their size
  other_size,     // run lengths of another size than the image's
  elsewhere,      // a segmentation without a common point with its box
  // Nothing is left out; as in mmdetection, training does not use it, and evaluation does.
  outside_image,  // a box without a common point with its image
  no_area,        // an area of 0, or a side below one pixel
  count
};

/// How often each fault was met.
class CocoNotes {
 public:
  void add(CocoFault fault) { ++counts_[static_cast<size_t>(fault)]; }
  int64_t operator[](CocoFault fault) const { return counts_[static_cast<size_t>(fault)]; }
  bool any() const;
  /// For a run's notes: "3 annotations left out: their image is not listed".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, static_cast<size_t>(CocoFault::count)> counts_{};
};

}  // namespace cachet::data
