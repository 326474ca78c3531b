#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cachet/analysis/model_summary.h"
#include "cachet/models/registry.h"

namespace cachet::analysis {

/// A model of a published table, and what was printed about it.
struct PublishedCount {
  const char* model;
  const char* cache_ratio;           // of the published gated recurrent cache, "0.5"; null = plain
  std::optional<double> parameters;  // in millions, three digits
  std::optional<double> code_macs;   // linear layers and convolutions of the published modules, in G, three digits
  std::optional<double> paper_macs;  // as the paper prints them, in G, two digits
};

/// Tables 9 and 10 of Cached Transformers (arXiv 2312.12742), counted at 224 x 224.
std::span<const PublishedCount> published_counts();

/// The model of a row, as a recipe would name it.
models::ImageClassifierPlan plan_of(const PublishedCount& row);

}  // namespace cachet::analysis
