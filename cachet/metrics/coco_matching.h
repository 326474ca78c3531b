#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cachet/geometry/box.h"
#include "cachet/geometry/run_lengths.h"

/// COCO's evaluation of detections (Lin et al. 2014), one image at a time; the numbers equal pycocotools'. The result
/// of an image is a list of verdicts on its detections. No verdict depends on other images.
namespace cachet::metrics {

inline constexpr int kOverlapThresholds = 10;   // 0.50, 0.55, …, 0.95
inline constexpr int kAreaRanges = 4;           // all, small, medium, large
inline constexpr int64_t kMaxDetections = 100;  // per image and category: the detections with the highest scores

/// Returns the minimum overlap of COCO's threshold `number` (0 … 9).
double overlap_threshold(int number);

/// Ranges of areas in pixels: all; up to 32²; 32² to 96²; from 96². A range includes its lower and its upper bound.
enum class AreaRange { all, small, medium, large };
struct AreaBounds {
  double least = 0, most = 0;
};
AreaBounds area_bounds(AreaRange range);

enum class OverlapKind { boxes, masks };

/// An object of the ground truth.
struct TrueObject {
  int32_t category = 0;
  geometry::SizedBox box{};
  double area = 0;                             // area from the file; may differ from the area of the box or mask
  bool crowd = false;                          // a region of many objects; detections in it do not count
  bool ignored = false;                        // one object that does not count (COCO's own files have only crowds)
  std::optional<geometry::RunLengths> mask{};  // if it is empty, OverlapKind::masks ignores the object
};

/// An object that a model detected.
struct DetectedObject {
  int32_t category = 0;
  geometry::SizedBox box{};
  double score = 0;
  geometry::RunLengths mask{};  // needed only for OverlapKind::masks
};

/// The result of matching one detection, for each range of areas. In the arrays `matched` and `ignored`, bit t is for
/// the overlap threshold t.
struct DetectionVerdict {
  double score = 0;
  std::array<uint16_t, kAreaRanges> matched{}, ignored{};
  bool operator==(const DetectionVerdict&) const = default;
};

/// The results of matching the detections of one category in one image.
struct CategoryVerdicts {
  int32_t category = 0;
  std::array<int32_t, kAreaRanges> truths{};  // number of truths that count
  int64_t detections = 0;                     // number of detections; their verdicts follow those of earlier categories
  bool operator==(const CategoryVerdicts&) const = default;
};

struct ImageVerdicts {
  int64_t image = 0;                         // id of the image; it decides the rank of equal scores in two images
  std::vector<CategoryVerdicts> categories;  // categories with truths or detections, in ascending order
  std::vector<DetectionVerdict> detections;  // the kMaxDetections best of each category, highest scores first
  bool operator==(const ImageVerdicts&) const = default;
};

/// Matches the detections of an image with its truths by COCO's rule, category by category. Detections are processed
/// by descending score (equal scores in their given order). Of the truths (true objects) that are still free, each
/// detection gets the truth with the largest overlap. Truths that are not ignored have priority over ignored truths.
///
/// The area of a detection is the area of its box or, for OverlapKind::masks, of its mask. If masks are compared, true
/// objects without a mask are ignored. Throws std::invalid_argument if a score is not finite or, with masks, if masks
/// have different sizes.
ImageVerdicts match_image(int64_t image, std::span<const TrueObject> truths, std::span<const DetectedObject> detections,
                          OverlapKind kind);

}  // namespace cachet::metrics
