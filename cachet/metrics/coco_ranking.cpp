#include "cachet/metrics/coco_ranking.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cachet/metrics/parallel_indices.h"

namespace cachet::metrics {
namespace {

std::vector<const ImageVerdicts*> by_id(std::span<const ImageVerdicts> images) {
  std::vector<const ImageVerdicts*> sorted;
  sorted.reserve(images.size());
  for (const ImageVerdicts& image : images) sorted.push_back(&image);
  std::sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->image < b->image; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i]->image == sorted[i - 1]->image)
      throw std::invalid_argument("image " + std::to_string(sorted[i]->image) + " was evaluated twice");
  }
  return sorted;
}

}  // namespace

int64_t RankedCategory::truths_in(AreaRange range) const {
  int64_t sum = 0;
  for (const ImageTruths& image : truths) sum += image.counts[static_cast<size_t>(range)];
  return sum;
}

std::vector<RankedCategory> ranked_by_category(std::span<const ImageVerdicts> images, int32_t categories, int threads) {
  std::vector<RankedCategory> result(static_cast<size_t>(std::max(categories, 0)));
  uint32_t number = 0;
  for (const ImageVerdicts* image : by_id(images)) {
    const DetectionVerdict* next = image->detections.data();
    for (const CategoryVerdicts& verdicts : image->categories) {
      if (verdicts.category < 0 || verdicts.category >= categories)
        throw std::invalid_argument("image " + std::to_string(image->image) + " has an object of category " +
                                    std::to_string(verdicts.category) + ", but the number of categories is " +
                                    std::to_string(categories));
      RankedCategory& category = result[static_cast<size_t>(verdicts.category)];
      if (std::ranges::any_of(verdicts.truths, [](int32_t count) { return count > 0; }))
        category.truths.push_back({number, verdicts.truths});
      for (int64_t place = 0; place < verdicts.detections; ++place)
        category.detections.push_back({next++, number, place});
    }
    ++number;
  }
  parallel_indices(static_cast<int64_t>(result.size()), threads, [&](int64_t i) {
    auto& detections = result[static_cast<size_t>(i)].detections;
    std::stable_sort(detections.begin(), detections.end(), [](const RankedDetection& a, const RankedDetection& b) {
      return a.verdict->score > b.verdict->score;
    });
  });
  return result;
}

}  // namespace cachet::metrics
