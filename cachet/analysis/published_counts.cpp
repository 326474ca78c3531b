#include "cachet/analysis/published_counts.h"

#include <array>

#include "cachet/config/document.h"

namespace cachet::analysis {
namespace {

constexpr std::array<PublishedCount, 9> kCounts{{
    {"pvt_tiny", nullptr, 13.229, 1.856, 1.90},
    {"pvt_tiny", "0.125", {}, 1.930, 1.93},
    {"pvt_tiny", "0.25", {}, 1.954, 1.96},
    {"pvt_tiny", "0.5", 15.671, 2.148, 2.15},
    {"pvt_tiny", "1.0", {}, 2.973, 2.97},
    {"pvt_small", nullptr, 24.486, 3.673, 3.80},
    {"pvt_small", "0.5", 29.357, 4.288, 4.29},
    {"pvt_medium", nullptr, 44.208, 6.443, 6.70},
    {"pvt_medium", "0.5", 53.477, 7.643, 7.61},
}};

}  // namespace

std::span<const PublishedCount> published_counts() { return kCounts; }

models::ImageClassifierPlan plan_of(const PublishedCount& row) {
  config::Document document;
  if (row.cache_ratio)
    for (const char* setting : {"model.cache.kind=grc", "model.cache.variant=official"}) document.set(setting);
  if (row.cache_ratio) document.set(std::string("model.cache.ratio=") + row.cache_ratio);
  auto plan = models::read_image_classifier(row.model, document.root().table("model"));
  document.finish();
  return plan;
}

}  // namespace cachet::analysis
