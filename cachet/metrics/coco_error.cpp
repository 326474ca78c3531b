#include "cachet/metrics/coco_error.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/metrics/bootstrap.h"
#include "cachet/metrics/coco_evaluation.h"
#include "cachet/metrics/coco_ranking.h"
#include "cachet/metrics/parallel_indices.h"

namespace cachet::metrics {
namespace {

constexpr int kImageResamples = 100;
constexpr auto kAllSizes = static_cast<size_t>(AreaRange::all);
constexpr unsigned kEveryThreshold = (1U << kOverlapThresholds) - 1;
constexpr double kNone = -1;

/// How many of so many objects are found where recall reaches each of its steps.
std::array<int64_t, kRecallSteps> hits_at_recalls(int64_t truths) {
  std::array<int64_t, kRecallSteps> hits{};
  const auto recall = [&](int64_t found) { return static_cast<double>(found) / static_cast<double>(truths); };
  int64_t found = 0;
  for (int r = 0; r < kRecallSteps; ++r) {
    // Near it by a product, which rounds otherwise than the quotient that counts.
    found = std::max(found, static_cast<int64_t>(recall_step(r) * static_cast<double>(truths)) - 1);
    while (recall(found) < recall_step(r)) ++found;
    hits[static_cast<size_t>(r)] = found;
  }
  return hits;
}

/// A detection that found an object, all its copies together: the precision and the number of hits after them. The
/// best precision from any of the copies on is that after the last one, so that none needs a position of its own.
struct Hit {
  int64_t hits;
  double precision;
};
using Hits = std::array<std::vector<Hit>, kOverlapThresholds>;

/// What one category adds to AP, made once for all sets of its images: its detections that count, from the highest
/// score down. Bit t is about threshold t.
class WeighedCategory {
 public:
  explicit WeighedCategory(const RankedCategory& category) {
    for (const RankedDetection& detection : category.detections) {
      const unsigned counts = ~unsigned{detection.verdict->ignored[kAllSizes]} & kEveryThreshold;
      const unsigned matched = detection.verdict->matched[kAllSizes];
      if (counts == 0) continue;
      seen_.push_back({detection.image, static_cast<uint16_t>(counts & matched),
                       static_cast<uint16_t>(counts & ~matched & kEveryThreshold)});
    }
    for (const RankedCategory::ImageTruths& image : category.truths)
      truths_.push_back({image.image, image.counts[kAllSizes]});
  }

  /// AP of the set that has each image so many times; kNone where it has no object. `hits` is memory to work in.
  double average_precision(std::span<const uint32_t> times, Hits& hits) const {
    int64_t truths = 0;
    for (const Truths& image : truths_) truths += image.count * int64_t{times[image.image]};
    if (truths == 0) return kNone;
    find_hits(times, hits);
    const std::array<int64_t, kRecallSteps> needed = hits_at_recalls(truths);
    double sum = 0;
    for (std::vector<Hit>& of_threshold : hits) sum += mean_precision(of_threshold, needed);
    return sum / kOverlapThresholds;
  }

 private:
  struct Seen {
    uint32_t image;
    uint16_t hits, misses;
  };
  struct Truths {
    uint32_t image;
    int32_t count;
  };
  void find_hits(std::span<const uint32_t> times, Hits& hits) const {
    for (std::vector<Hit>& of_threshold : hits) of_threshold.clear();
    std::array<int64_t, kOverlapThresholds> missed{};
    int64_t missed_everywhere = 0;  // most detections are, so that they take one addition
    for (const Seen& detection : seen_) {
      const int64_t copies = times[detection.image];
      if (copies == 0) continue;
      if (detection.misses == kEveryThreshold) {
        missed_everywhere += copies;
        continue;
      }
      for (size_t t = 0; t < kOverlapThresholds; ++t) {
        if ((detection.misses >> t & 1U) != 0) missed[t] += copies;
        if ((detection.hits >> t & 1U) == 0) continue;
        const int64_t found = (hits[t].empty() ? 0 : hits[t].back().hits) + copies;
        const auto all_hits = static_cast<double>(found);
        hits[t].push_back({found, all_hits / (static_cast<double>(missed[t] + missed_everywhere) + all_hits +
                                              std::numeric_limits<double>::epsilon())});
      }
    }
  }

  static double mean_precision(std::vector<Hit>& hits, const std::array<int64_t, kRecallSteps>& needed) {
    for (size_t i = hits.size(); i-- > 1;) hits[i - 1].precision = std::max(hits[i - 1].precision, hits[i].precision);
    double sum = 0;
    size_t hit = 0;
    for (const int64_t least : needed) {
      while (hit < hits.size() && hits[hit].hits < least) ++hit;
      sum += hit < hits.size() ? hits[hit].precision : 0;
    }
    return sum / kRecallSteps;
  }

  std::vector<Seen> seen_;
  std::vector<Truths> truths_;
};

double mean_of_categories(std::span<const double> precisions) {
  double sum = 0;
  int64_t count = 0;
  for (const double precision : precisions) {
    if (precision == kNone) continue;
    sum += precision;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kNone;
}

/// AP of each set, of which all have as many images.
std::vector<double> average_precisions(std::span<const ImageVerdicts> images, int32_t categories,
                                       const std::vector<std::vector<uint32_t>>& sets, int threads) {
  const std::vector<RankedCategory> ranked = ranked_by_category(images, categories, threads);
  std::vector<std::vector<double>> by_set(sets.size(), std::vector<double>(ranked.size()));
  // A category's detections stay in a core's cache while all sets are made of them.
  parallel_indices(static_cast<int64_t>(ranked.size()), threads, [&](int64_t i) {
    const WeighedCategory category(ranked[static_cast<size_t>(i)]);
    Hits hits;
    for (size_t set = 0; set < sets.size(); ++set)
      by_set[set][static_cast<size_t>(i)] = category.average_precision(sets[set], hits);
  });
  std::vector<double> means;
  for (const std::vector<double>& precisions : by_set) means.push_back(mean_of_categories(precisions));
  return means;
}

}  // namespace

double average_precision(std::span<const ImageVerdicts> images, int32_t categories, std::span<const uint32_t> times) {
  if (times.size() != images.size())
    throw std::invalid_argument(std::to_string(times.size()) +
                                " counts were given, but each image needs one count; the number of images is " +
                                std::to_string(images.size()));
  return average_precisions(images, categories, {{times.begin(), times.end()}}, /*threads=*/1).front();
}

std::optional<double> average_precision_error(std::span<const ImageVerdicts> images, int32_t categories, int threads) {
  if (images.size() < 2) return std::nullopt;
  Resampler resampler(images.size());
  std::vector<std::vector<uint32_t>> sets(kImageResamples, std::vector<uint32_t>(images.size(), 0));
  for (std::vector<uint32_t>& times : sets)
    for (size_t i = 0; i < images.size(); ++i) ++times[resampler.next()];
  std::vector<double> scores = average_precisions(images, categories, sets, threads);
  std::erase(scores, kNone);
  return deviation(scores);
}

}  // namespace cachet::metrics
