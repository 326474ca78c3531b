#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cachet/config/document.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::test {

/// Every kind of norm of the library with its defaults, under the name of a recipe, and special cases. Where the
/// defaults do not fit the few channels of tests, options that do.
inline const std::vector<std::pair<std::string, nn::NormOptions>>& all_norms() {
  static const auto norms = [] {
    const std::map<std::string, nn::NormOptions> small{{"group", nn::GroupNormOptions{.groups = 2}}};
    std::vector<std::pair<std::string, nn::NormOptions>> all{
        {"un_channel", nn::UnifiedNormOptions{.settings = {.threshold = ops::OutlierThreshold::channel}}},
        {"pn_star", nn::PowerNormOptions{{}, false}}};
    auto nothing_written = config::Document::from_text("", "defaults");
    for (const nn::NormRow* row : nn::norm_kinds()) {
      const nn::NormOptions defaults = row->read(nothing_written.root());
      if (std::holds_alternative<nn::ChosenNorm>(defaults)) continue;  // a test's own
      const auto fitting = small.find(row->name);
      all.emplace_back(row->name, fitting != small.end() ? fitting->second : defaults);
    }
    return all;
  }();
  return norms;
}

/// Those of a model whose tokens may not depend on later ones.
inline std::vector<std::pair<std::string, nn::NormOptions>> causal_norms() {
  std::vector<std::pair<std::string, nn::NormOptions>> causal;
  for (const auto& norm : all_norms())
    if (nn::why_norm_not_causal(norm.second).empty()) causal.push_back(norm);
  return causal;
}

/// Whether a norm looks at its input in evaluation.
inline bool is_online(const nn::NormOptions& norm) {
  const auto* power = std::get_if<nn::PowerNormOptions>(&norm);
  const nn::NormStatistics statistics = nn::chosen_norm(norm).statistics;
  return statistics == nn::NormStatistics::token || statistics == nn::NormStatistics::sample ||
         (power != nullptr && power->group_scaling);
}

}  // namespace cachet::test
