#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/models/registry.h"

namespace cachet::analysis {

/// Which cache a row counts.
enum class CountedCache {
  none,
  published,  // of the published code: variant = "official"
  recipe,     // of the recipes `imagenet_*_cached`: variant = "paper" with the positional convolution
  pooled,     // of the recipes `imagenet_*_cached_pooled`: the same, and pooled by 4 and 2 as in the paper's appendix
};

/// A model of a published table, and what was printed about it.
struct PublishedCount {
  const char* model;
  CountedCache cache = CountedCache::none;
  const char* cache_ratio = nullptr;      // "0.5"; null = plain
  std::optional<double> parameters = {};  // of the published modules, in millions, three digits
  std::optional<double> code_macs = {};   // linear layers and convolutions of these, in G, three digits
  std::optional<double> paper_macs = {};  // as the paper prints them, in G, two digits
};

/// Tables 9 and 10 of Cached Transformers (arXiv 2312.12742), counted at 224 x 224. A plain model stands before its
/// cached ones.
std::span<const PublishedCount> published_counts();

/// The model of a row, as a recipe would name it.
models::ImageClassifierPlan plan_of(const PublishedCount& row);

}  // namespace cachet::analysis
