#include "cachet/metrics/ngram_matches.h"

#include <algorithm>

namespace cachet::metrics {
namespace {

uint64_t ngram_key(uint32_t prefix, uint32_t unit) { return uint64_t{prefix} << 32 | unit; }

}  // namespace

void NgramMatches::clear() {
  for (size_t order = 0; order < orders(); ++order) {
    ids_[order].clear();
    most_[order].clear();
    now_[order].clear();
  }
}

void NgramMatches::add_reference(std::span<const uint32_t> units) {
  prefixes_.assign(units.size(), 0);
  for (size_t order = 0; order < orders() && order < units.size(); ++order) {
    auto& most = most_[order];
    auto& now = now_[order];
    std::ranges::fill(now, 0);
    for (size_t i = 0; i + order < units.size(); ++i) {
      const uint32_t id = ids_[order].add(ngram_key(prefixes_[i], units[i + order]));
      if (id == most.size()) {
        most.push_back(0);
        now.push_back(0);
      }
      most[id] = std::max(most[id], ++now[id]);
      prefixes_[i] = id;
    }
  }
}

std::vector<int64_t> NgramMatches::matches(std::span<const uint32_t> units) {
  constexpr uint32_t kNone = DenseIds<uint64_t>::kNone;
  std::vector<int64_t> found(orders(), 0);
  prefixes_.assign(units.size(), 0);
  for (size_t order = 0; order < orders() && order < units.size(); ++order) {
    auto& now = now_[order];
    std::ranges::fill(now, 0);
    for (size_t i = 0; i + order < units.size(); ++i) {
      if (prefixes_[i] == kNone) continue;  // what does not stand there does not stand there longer either
      const uint32_t id = ids_[order].find(ngram_key(prefixes_[i], units[i + order]));
      prefixes_[i] = id;
      if (id != kNone && ++now[id] <= most_[order][id]) ++found[order];
    }
  }
  return found;
}

}  // namespace cachet::metrics
