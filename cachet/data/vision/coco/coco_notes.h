#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cachet::data {

/// Faults of single annotations in an otherwise valid file.
enum class CocoFault {
  // An annotation with one of the faults from `unknown_image` to `odd_area` in this list is left out.
  unknown_image,     // its image is not in the file's list
  unknown_category,  // its category is not in the file's list
  repeated_id,       // its id is the id of an earlier annotation
  odd_box,           // its box is not four finite numbers within ±2^26, or has a negative side
  odd_area,          // its area is not finite or is negative
  // An annotation with one of the faults from `short_polygon` to `elsewhere` stays, but without its faulty part. If the
  // whole segmentation is faulty, the annotation has no mask.
  short_polygon,  // fewer than three corners, or an odd number of coordinates
  odd_polygon,    // a corner that is not finite or beyond ±2^26, or edges back and forth over millions of columns
  odd_runs,       // run lengths that do not make a mask of their size
  other_size,     // run lengths of another size than the image's
  elsewhere,      // no common point of the segmentation and its box
  // An annotation with the fault `outside_image` or `no_area` stays unchanged. As in mmdetection, evaluation uses
  // annotations outside the image or without area, but training does not.
  outside_image,  // no common point of the box and its image
  no_area,        // an area of 0, or a side below one pixel
  count
};

/// Counts how often each CocoFault occurs in a file of annotations.
class CocoNotes {
 public:
  void add(CocoFault fault) { ++counts_[static_cast<size_t>(fault)]; }
  int64_t operator[](CocoFault fault) const { return counts_[static_cast<size_t>(fault)]; }
  bool any() const;
  /// Returns lines for the notes of a run: "3 annotations left out: their image is not listed".
  std::vector<std::string> lines() const;

 private:
  std::array<int64_t, static_cast<size_t>(CocoFault::count)> counts_{};
};

}  // namespace cachet::data
