#include "cachet/metrics/coco_matching.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace cachet::metrics {
namespace {

using geometry::RunLengths;
using geometry::SizedBox;

constexpr uint16_t kAllThresholds = (1u << kOverlapThresholds) - 1;

bool outside(double area, AreaRange range) {
  const AreaBounds bounds = area_bounds(range);
  return area < bounds.least || area > bounds.most;
}

// A truth that a detection overlaps enough for the lowest threshold.
struct Candidate {
  size_t truth = 0;
  double overlap = 0;
};

// The truths and detections of one category.
class Matching {
 public:
  Matching(std::vector<const TrueObject*> truths, std::vector<const DetectedObject*> detections, OverlapKind kind)
      : truths_(std::move(truths)), detections_(std::move(detections)), kind_(kind) {
    std::stable_sort(detections_.begin(), detections_.end(), [](auto* a, auto* b) { return a->score > b->score; });
    if (detections_.size() > kMaxDetections) detections_.resize(kMaxDetections);
    find_candidates();
  }

  void append_to(ImageVerdicts& image, int32_t category) const {
    CategoryVerdicts verdicts{category, {}, static_cast<int64_t>(detections_.size())};
    const size_t first = image.detections.size();
    for (const DetectedObject* detection : detections_) image.detections.push_back({detection->score, {}, {}});
    for (int a = 0; a < kAreaRanges; ++a) {
      const auto range = static_cast<AreaRange>(a);
      std::vector<uint8_t> ignored;
      for (const TrueObject* truth : truths_)
        ignored.push_back(truth->crowd || truth->ignored || outside(truth->area, range));
      const auto i = static_cast<size_t>(a);
      verdicts.truths[i] = static_cast<int32_t>(std::count(ignored.begin(), ignored.end(), 0));
      match(range, ignored, std::span(image.detections).subspan(first));
    }
    image.categories.push_back(verdicts);
  }

 private:
  void find_candidates() {
    candidates_.resize(detections_.size());
    if (truths_.empty()) return;
    const bool masks = kind_ == OverlapKind::masks;
    std::vector<SizedBox> truth_boxes;
    for (const TrueObject* truth : truths_) truth_boxes.push_back(masks ? truth->mask->box() : truth->box);
    const double least = overlap_threshold(0);
    for (size_t d = 0; d < detections_.size(); ++d) {
      const DetectedObject& detection = *detections_[d];
      const SizedBox box = masks ? detection.mask.box() : detection.box;
      for (size_t t = 0; t < truths_.size(); ++t) {
        const TrueObject& truth = *truths_[t];
        if (masks && detection.mask.size() != truth.mask->size()) shared_pixels(detection.mask, *truth.mask);  // throws
        double overlap = geometry::overlap(box, truth_boxes[t], truth.crowd);
        if (masks && overlap > 0) overlap = geometry::overlap(detection.mask, *truth.mask, truth.crowd);
        if (overlap >= least) candidates_[d].push_back({t, overlap});
      }
    }
  }

  double area(const DetectedObject& detection) const {
    return kind_ == OverlapKind::masks ? static_cast<double>(detection.mask.area()) : detection.box.area();
  }

  void match(AreaRange range, const std::vector<uint8_t>& ignored, std::span<DetectionVerdict> verdicts) const {
    const auto a = static_cast<size_t>(range);
    std::vector<uint16_t> taken(truths_.size(), 0);  // bit t: at threshold t
    for (size_t d = 0; d < detections_.size(); ++d) {
      DetectionVerdict& verdict = verdicts[d];
      for (int t = 0; t < kOverlapThresholds && !candidates_[d].empty(); ++t) {
        const auto bit = static_cast<uint16_t>(1u << t);
        const Candidate* best = best_candidate(d, overlap_threshold(t), ignored, taken, bit);
        if (best == nullptr) continue;
        taken[best->truth] |= bit;
        verdict.matched[a] |= bit;
        if (ignored[best->truth]) verdict.ignored[a] |= bit;
      }
      // What matches nothing counts against the model only in the range that its own area belongs to.
      if (outside(area(*detections_[d]), range))
        verdict.ignored[a] |= static_cast<uint16_t>(kAllThresholds & ~verdict.matched[a]);
    }
  }

  // The last of the largest overlaps, among truths that count if there is one.
  const Candidate* best_candidate(size_t d, double least, const std::vector<uint8_t>& ignored,
                                  const std::vector<uint16_t>& taken, uint16_t bit) const {
    const Candidate* best = nullptr;
    for (const uint8_t counts_not : {uint8_t{0}, uint8_t{1}}) {
      double overlap = least;
      for (const Candidate& candidate : candidates_[d]) {
        if (ignored[candidate.truth] != counts_not || candidate.overlap < overlap) continue;
        if ((taken[candidate.truth] & bit) != 0 && !truths_[candidate.truth]->crowd) continue;
        best = &candidate;
        overlap = candidate.overlap;
      }
      if (best != nullptr) return best;
    }
    return nullptr;
  }

  std::vector<const TrueObject*> truths_;
  std::vector<const DetectedObject*> detections_;  // highest scores first
  std::vector<std::vector<Candidate>> candidates_;
  OverlapKind kind_;
};

// Pointers to a range's elements, those of a category together, in their order.
template <class Object>
std::vector<const Object*> by_category(std::span<const Object> objects) {
  std::vector<const Object*> sorted;
  sorted.reserve(objects.size());
  for (const Object& object : objects) sorted.push_back(&object);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->category < b->category; });
  return sorted;
}

// Takes those of a category, the lowest that is left, from the front.
template <class Object>
std::vector<const Object*> take(std::span<const Object* const>& left, int32_t category) {
  size_t count = 0;
  while (count < left.size() && left[count]->category == category) ++count;
  std::vector<const Object*> taken(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(count));
  left = left.subspan(count);
  return taken;
}

}  // namespace

double overlap_threshold(int number) {
  return number == kOverlapThresholds - 1 ? 0.95 : number * ((0.95 - 0.5) / 9) + 0.5;
}

AreaBounds area_bounds(AreaRange range) {
  constexpr double kMax = 1e10, kSmall = 32 * 32, kMedium = 96 * 96;
  switch (range) {
    case AreaRange::small:
      return {0, kSmall};
    case AreaRange::medium:
      return {kSmall, kMedium};
    case AreaRange::large:
      return {kMedium, kMax};
    case AreaRange::all:
      break;
  }
  return {0, kMax};
}

ImageVerdicts match_image(int64_t image, std::span<const TrueObject> truths, std::span<const DetectedObject> detections,
                          OverlapKind kind) {
  for (const DetectedObject& detection : detections) {
    if (!std::isfinite(detection.score))
      throw std::invalid_argument("image " + std::to_string(image) + ": the score of a detection must be finite, not " +
                                  std::to_string(detection.score));
  }
  ImageVerdicts verdicts{image, {}, {}};
  auto sorted_truths = by_category(truths);
  if (kind == OverlapKind::masks) std::erase_if(sorted_truths, [](const TrueObject* truth) { return !truth->mask; });
  const auto sorted_detections = by_category(detections);
  std::span<const TrueObject* const> truths_left = sorted_truths;
  std::span<const DetectedObject* const> detections_left = sorted_detections;
  while (!truths_left.empty() || !detections_left.empty()) {
    int32_t category = truths_left.empty() ? detections_left.front()->category : truths_left.front()->category;
    if (!detections_left.empty()) category = std::min(category, detections_left.front()->category);
    auto true_ones = take(truths_left, category);
    auto detected_ones = take(detections_left, category);
    Matching(std::move(true_ones), std::move(detected_ones), kind).append_to(verdicts, category);
  }
  return verdicts;
}

}  // namespace cachet::metrics
