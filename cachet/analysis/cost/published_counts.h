#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/models/registry.h"

namespace cachet::analysis {

/// The kind of caches that a model of published_counts() has.
enum class CountedCache {
  none,
  published,  // cache of the published code: variant = "official"
  recipe,     // cache of the recipes `imagenet_*_cached`: variant = "paper" with the positional convolution
  pooled,     // cache of the recipes `imagenet_*_cached_pooled`: also pooled by 4 and 2, as in the paper's appendix
};

/// A model in a table of a paper, and the numbers that the table has for the model.
struct PublishedCount {
  const char* model;
  CountedCache cache = CountedCache::none;
  const char* cache_ratio = nullptr;      // "0.5"; null: no caches
  std::optional<double> parameters = {};  // parameters of the published modules, in millions, three digits
  std::optional<double> code_macs = {};   // MACs of the published linear layers and convolutions, in G, three digits
  std::optional<double> paper_macs = {};  // MACs printed in the paper, in G, two digits
};

/// The parameter and MAC counts of Tables 9 and 10 of Cached Transformers (arXiv 2312.12742), for images of 224 x 224.
/// In the list, each model without caches comes before the same model with caches.
std::span<const PublishedCount> published_counts();

/// Returns the plan of the model that a row of published_counts() describes, including its caches.
models::ImageClassifierPlan plan_of(const PublishedCount& row);

}  // namespace cachet::analysis
