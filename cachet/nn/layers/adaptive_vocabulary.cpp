#include "cachet/nn/layers/adaptive_vocabulary.h"

#include <c10/util/Exception.h>

#include "cachet/nn/base/option_checks.h"

namespace cachet::nn {
namespace {

int64_t first_width(const AdaptiveVocabulary& v) { return v.embedding_dim > 0 ? v.embedding_dim : v.dim; }

}  // namespace

bool has_projections(const AdaptiveVocabulary& v) { return !has_one_table(v) || first_width(v) != v.dim; }

std::vector<TokenCluster> clusters_of(const AdaptiveVocabulary& v) {
  check_positive("adaptive_vocabulary: tokens", v.tokens);
  check_positive("adaptive_vocabulary: dim", v.dim);
  check_positive("adaptive_vocabulary: division", v.division);
  TORCH_CHECK(v.embedding_dim >= 0, "adaptive_vocabulary: embedding_dim must be at least 0, got ", v.embedding_dim);
  std::vector<TokenCluster> clusters;
  int64_t first = 0, width = first_width(v);
  for (size_t i = 0; i <= v.cutoffs.size(); ++i) {
    const bool last = i == v.cutoffs.size();
    const int64_t end = last ? v.tokens : v.cutoffs[i];
    TORCH_CHECK(end > first && end <= v.tokens && (last || end < v.tokens),
                "adaptive_vocabulary: cutoffs must ascend between 0 and the ", v.tokens, " tokens, got ", v.cutoffs);
    TORCH_CHECK(width > 0, "adaptive_vocabulary: cluster ", i, " has no channel left: ", first_width(v), " divided by ",
                v.division, " ", i, " times");
    clusters.push_back({first, end - first, width});
    first = end;
    width /= v.division;
  }
  return clusters;
}

}  // namespace cachet::nn
