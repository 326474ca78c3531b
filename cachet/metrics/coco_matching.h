#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// COCO's evaluation of detections (Lin et al. 2014, with the numbers of pycocotools), an image at a time. An image
/// contributes verdicts, which are independent of other images.
namespace cachet::metrics {

inline constexpr int kOverlapThresholds = 10;   // 0.50, 0.55, …, 0.95
inline constexpr int kAreaRanges = 4;           // all, small, medium, large
inline constexpr int64_t kMaxDetections = 100;  // of an image and a category, the best ones

/// The least overlap of threshold 0 … 9.
double overlap_threshold(int number);

/// Pixels: all; up to 32²; up to 96²; above. Both bounds belong to a range.
enum class AreaRange { all, small, medium, large };
struct AreaBounds {
  double least = 0, most = 0;
};
AreaBounds area_bounds(AreaRange range);

enum class OverlapKind { boxes, masks };

/// An object that is there.
struct TrueObject {
  int32_t category = 0;
  geometry::SizedBox box{};
  double area = 0;                             // as in the file, which need not be the box's or the mask's
  bool crowd = false;                          // a region of many: detections within it count neither way
  bool ignored = false;                        // counts neither way, as one object (COCO's own files have crowds only)
  std::optional<geometry::RunLengths> mask{};  // an object without a mask is not there for OverlapKind::masks
};

/// An object that a model saw.
struct DetectedObject {
  int32_t category = 0;
  geometry::SizedBox box{};
  double score = 0;
  geometry::RunLengths mask{};  // needed for masks only
};

/// What became of one detection in each range of areas: bit t of both is about threshold t.
struct DetectionVerdict {
  double score = 0;
  std::array<uint16_t, kAreaRanges> matched{}, ignored{};
  bool operator==(const DetectionVerdict&) const = default;
};

/// One category in one image.
struct CategoryVerdicts {
  int32_t category = 0;
  std::array<int32_t, kAreaRanges> truths{};  // that count
  int64_t detections = 0;                     // their verdicts follow those of the categories before
  bool operator==(const CategoryVerdicts&) const = default;
};

struct ImageVerdicts {
  int64_t image = 0;                         // its id: equal scores of two images rank in the order of these
  std::vector<CategoryVerdicts> categories;  // with truths or detections, in ascending order
  std::vector<DetectionVerdict> detections;  // of each category the best kMaxDetections, highest scores first
  bool operator==(const ImageVerdicts&) const = default;
};

/// Matches the detections of an image with its truths by COCO's rule: category by category, detections from the highest
/// score down (equal scores as they come), each with the truth that it overlaps most among those still free, those that
/// count before those that do not.
///
/// The area of a detection is its box's, or its mask's. Masks are matched with truths that have a mask; other truths
/// are left out. Throws std::invalid_argument for a score that is not finite
/// and, of masks, for sizes that differ.
ImageVerdicts match_image(int64_t image, std::span<const TrueObject> truths, std::span<const DetectedObject> detections,
                          OverlapKind kind);

}  // namespace cachet::metrics
