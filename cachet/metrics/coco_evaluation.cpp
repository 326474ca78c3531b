#include "cachet/metrics/coco_evaluation.h"

#include <algorithm>
#include <limits>

#include "cachet/metrics/coco_ranking.h"
#include "cachet/metrics/parallel_indices.h"

namespace cachet::metrics {
namespace {

// Precision and recall of one category, in one range of areas, with so many detections an image.
struct Curves {
  int64_t truths = 0;
  std::array<double, kOverlapThresholds> recall{};
  std::array<std::array<double, kRecallSteps>, kOverlapThresholds> precision{};
};

// The precisions at which true detections stand, as a precision for each recall.
void fill_precision(std::vector<double>& at_hits, int64_t truths, std::array<double, kRecallSteps>& precision) {
  for (size_t i = at_hits.size(); i-- > 1;) at_hits[i - 1] = std::max(at_hits[i - 1], at_hits[i]);
  size_t hit = 0;
  for (int r = 0; r < kRecallSteps; ++r) {
    const auto recall = [&](size_t hits) { return static_cast<double>(hits) / static_cast<double>(truths); };
    while (hit < at_hits.size() && recall(hit + 1) < recall_step(r)) ++hit;
    precision[static_cast<size_t>(r)] = hit < at_hits.size() ? at_hits[hit] : 0;
  }
}

Curves curves_of(const RankedCategory& category, AreaRange range, int64_t most) {
  const auto a = static_cast<size_t>(range);
  Curves curves;
  curves.truths = category.truths_in(range);
  if (curves.truths == 0) return curves;
  std::array<std::vector<double>, kOverlapThresholds> at_hits;
  std::array<int64_t, kOverlapThresholds> misses{};
  for (const RankedDetection& detection : category.detections) {
    if (detection.place >= most) continue;
    const unsigned counts = ~unsigned{detection.verdict->ignored[a]}, matched = detection.verdict->matched[a];
    for (size_t t = 0; t < kOverlapThresholds; ++t) {
      const unsigned bit = 1u << t;
      if ((counts & bit) == 0) continue;
      if ((matched & bit) == 0) {
        ++misses[t];
        continue;
      }
      const auto hits = static_cast<double>(at_hits[t].size() + 1);
      at_hits[t].push_back(hits / (static_cast<double>(misses[t]) + hits + std::numeric_limits<double>::epsilon()));
    }
  }
  for (size_t t = 0; t < kOverlapThresholds; ++t) {
    curves.recall[t] = static_cast<double>(at_hits[t].size()) / static_cast<double>(curves.truths);
    fill_precision(at_hits[t], curves.truths, curves.precision[t]);
  }
  return curves;
}

double mean_precision(const Curves& curves, size_t threshold) {
  double sum = 0;
  for (const double precision : curves.precision[threshold]) sum += precision;
  return sum / kRecallSteps;
}

template <class Value>
double mean_over_thresholds(Value value) {
  double sum = 0;
  for (size_t t = 0; t < kOverlapThresholds; ++t) sum += value(t);
  return sum / kOverlapThresholds;
}

double mean_precision(const Curves& curves) {
  return mean_over_thresholds([&](size_t t) { return mean_precision(curves, t); });
}

double mean_recall(const Curves& curves) {
  return mean_over_thresholds([&](size_t t) { return curves.recall[t]; });
}

constexpr size_t kThreshold50 = 0, kThreshold75 = 5;

// The numbers of one category alone, −1 where it has no truth, and its curves.
struct CategorySummary {
  CocoNumbers numbers;
  CategoryResult result;
};

CategorySummary summarize_category(const RankedCategory& category) {
  CategorySummary summary;
  CocoNumbers& numbers = summary.numbers;
  Curves all = curves_of(category, AreaRange::all, kMaxDetections);
  summary.result.truths = all.truths;
  summary.result.detections =
      std::count_if(category.detections.begin(), category.detections.end(),
                    [](const RankedDetection& detection) { return (detection.verdict->ignored[0] & 1) == 0; });
  if (all.truths > 0) {
    numbers.ap = mean_precision(all);
    numbers.ap50 = mean_precision(all, kThreshold50);
    numbers.ap75 = mean_precision(all, kThreshold75);
    numbers.ar1 = mean_recall(curves_of(category, AreaRange::all, 1));
    numbers.ar10 = mean_recall(curves_of(category, AreaRange::all, 10));
    numbers.ar100 = mean_recall(all);
    summary.result.precision.assign(all.precision.begin(), all.precision.end());
  }
  const auto of_range = [&](AreaRange range, double& ap, double& ar) {
    const Curves curves = curves_of(category, range, kMaxDetections);
    if (curves.truths == 0) return;
    ap = mean_precision(curves);
    ar = mean_recall(curves);
  };
  of_range(AreaRange::small, numbers.ap_small, numbers.ar_small);
  of_range(AreaRange::medium, numbers.ap_medium, numbers.ar_medium);
  of_range(AreaRange::large, numbers.ap_large, numbers.ar_large);
  summary.result.ap = numbers.ap;
  summary.result.ap50 = numbers.ap50;
  summary.result.ap75 = numbers.ap75;
  summary.result.ar = numbers.ar100;
  return summary;
}

// The mean of what the categories have, −1 left out.
double mean_of(const std::vector<CategorySummary>& categories, double CocoNumbers::*number) {
  double sum = 0;
  int64_t count = 0;
  for (const CategorySummary& category : categories) {
    if (category.numbers.*number < 0) continue;
    sum += category.numbers.*number;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : -1;
}

}  // namespace

double recall_step(int number) { return number == kRecallSteps - 1 ? 1.0 : number * 0.01; }

std::vector<double> CocoResult::precision_curve(int threshold) const {
  std::vector<double> curve;
  int64_t count = 0;
  for (const CategoryResult& category : categories) {
    if (category.precision.empty()) continue;
    curve.resize(kRecallSteps);
    ++count;
    const auto& precision = category.precision.at(static_cast<size_t>(threshold));
    for (size_t r = 0; r < kRecallSteps; ++r) curve[r] += precision[r];
  }
  for (double& precision : curve) precision /= static_cast<double>(count);
  return curve;
}

CocoResult summarize(std::span<const ImageVerdicts> images, int32_t categories, int threads) {
  const std::vector<RankedCategory> ranked = ranked_by_category(images, categories, threads);
  std::vector<CategorySummary> summaries(ranked.size());
  parallel_indices(static_cast<int64_t>(ranked.size()), threads, [&](int64_t i) {
    summaries[static_cast<size_t>(i)] = summarize_category(ranked[static_cast<size_t>(i)]);
  });
  CocoResult result;
  for (double CocoNumbers::*number :
       {&CocoNumbers::ap, &CocoNumbers::ap50, &CocoNumbers::ap75, &CocoNumbers::ap_small, &CocoNumbers::ap_medium,
        &CocoNumbers::ap_large, &CocoNumbers::ar1, &CocoNumbers::ar10, &CocoNumbers::ar100, &CocoNumbers::ar_small,
        &CocoNumbers::ar_medium, &CocoNumbers::ar_large})
    result.numbers.*number = mean_of(summaries, number);
  for (CategorySummary& summary : summaries) result.categories.push_back(std::move(summary.result));
  return result;
}

std::vector<ImageVerdicts> match_images(int64_t images,
                                        const std::function<std::pair<int64_t, ImageObjects>(int64_t)>& objects,
                                        OverlapKind kind, int threads) {
  std::vector<ImageVerdicts> verdicts(static_cast<size_t>(images));
  parallel_indices(images, threads, [&](int64_t i) {
    const auto [id, in_image] = objects(i);
    verdicts[static_cast<size_t>(i)] = match_image(id, in_image.truths, in_image.detections, kind);
  });
  return verdicts;
}

}  // namespace cachet::metrics
