#include "cachet/analysis/cost/published_counts.h"

#include <array>

#include "cachet/config/document.h"

namespace cachet::analysis {
namespace {

using enum CountedCache;

constexpr std::array<PublishedCount, 21> kCounts{{
    {"pvt_tiny", none, nullptr, 13.229, 1.856, 1.90},
    {"pvt_tiny", published, "0.125", {}, 1.930, 1.93},
    {"pvt_tiny", recipe, "0.125", {}, {}, 1.93},
    {"pvt_tiny", pooled, "0.125", {}, {}, 1.93},
    {"pvt_tiny", published, "0.25", {}, 1.954, 1.96},
    {"pvt_tiny", recipe, "0.25", {}, {}, 1.96},
    {"pvt_tiny", pooled, "0.25", {}, {}, 1.96},
    {"pvt_tiny", published, "0.5", 15.671, 2.148, 2.15},
    {"pvt_tiny", recipe, "0.5", {}, {}, 2.15},
    {"pvt_tiny", pooled, "0.5", {}, {}, 2.15},
    {"pvt_tiny", published, "1.0", {}, 2.973, 2.97},
    {"pvt_tiny", recipe, "1.0", {}, {}, 2.97},
    {"pvt_tiny", pooled, "1.0", {}, {}, 2.97},
    {"pvt_small", none, nullptr, 24.486, 3.673, 3.80},
    {"pvt_small", published, "0.5", 29.357, 4.288, 4.29},
    {"pvt_small", recipe, "0.5", {}, {}, 4.29},
    {"pvt_small", pooled, "0.5", {}, {}, 4.29},
    {"pvt_medium", none, nullptr, 44.208, 6.443, 6.70},
    {"pvt_medium", published, "0.5", 53.477, 7.643, 7.61},
    {"pvt_medium", recipe, "0.5", {}, {}, 7.61},
    {"pvt_medium", pooled, "0.5", {}, {}, 7.61},
}};

}  // namespace

std::span<const PublishedCount> published_counts() { return kCounts; }

models::ImageClassifierPlan plan_of(const PublishedCount& row) {
  config::Document document;
  if (row.cache_ratio) {
    document.set("model.cache.kind=grc");
    document.set(std::string("model.cache.ratio=") + row.cache_ratio);
    document.set(row.cache == published ? "model.cache.variant=official" : "model.cache.positional_convolution=true");
  }
  if (row.cache == pooled) document.set("model.cache_pools=[4, 2, 1, 1]");
  auto plan = models::read_image_classifier(row.model, document.root().table("model"));
  document.finish();
  return plan;
}

}  // namespace cachet::analysis
