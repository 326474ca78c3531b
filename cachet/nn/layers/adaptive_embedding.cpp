#include "cachet/nn/layers/adaptive_embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <string>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/linear/linear.h"

namespace cachet::nn {
namespace {

// What a table holds each: all clusters, or one.
std::vector<TokenCluster> tables_of(const AdaptiveVocabulary& vocabulary) {
  const std::vector<TokenCluster> clusters = clusters_of(vocabulary);
  if (!has_one_table(vocabulary)) return clusters;
  return {{0, vocabulary.tokens, clusters[0].width}};
}

}  // namespace

AdaptiveEmbedding::AdaptiveEmbedding(const AdaptiveVocabulary& vocabulary)
    : Cloneable("AdaptiveEmbedding"),
      scale_(std::sqrt(static_cast<double>(vocabulary.dim))),
      clusters_(tables_of(vocabulary)) {
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const std::string place = std::to_string(i);
    tables_.emplace_back() = register_parameter("table_" + place, at::empty({clusters_[i].count, clusters_[i].width}));
    normal_(tables_.back(), 0.02);
    projections_.emplace_back();
    if (!has_projections(vocabulary)) continue;
    projections_.back() = register_parameter("projection_" + place, at::empty({vocabulary.dim, clusters_[i].width}));
    normal_(projections_.back(), 0.01);
  }
}

torch::Tensor AdaptiveEmbedding::embed(size_t table, const torch::Tensor& ids) const {
  const torch::Tensor found = at::embedding(tables_[table], ids);
  return projections_[table].defined() ? ops::linear(found, projections_[table]) : found;
}

torch::Tensor AdaptiveEmbedding::by_cluster(const torch::Tensor& ids) const {
  const torch::Tensor flat = ids.flatten();
  torch::Tensor all;
  int64_t found = 0;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const int64_t first = clusters_[i].first;
    const torch::Tensor rows = flat.ge(first).logical_and_(flat.lt(first + clusters_[i].count)).nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    found += rows.numel();
    const torch::Tensor embedded = embed(i, flat.index_select(0, rows) - first);
    if (!all.defined()) all = at::zeros({flat.numel(), embedded.size(1)}, embedded.options());
    all = all.index_add(0, rows.to(all.device()), embedded);  // ids with values may meet tables without
  }
  TORCH_CHECK(found == flat.numel(), "adaptive_embedding: ", flat.numel() - found,
              " ids are not tokens; ids must be at least 0 and below ",
              clusters_.back().first + clusters_.back().count);
  if (!all.defined()) all = embed(0, flat);  // no ids
  std::vector<int64_t> sizes = ids.sizes().vec();
  sizes.push_back(all.size(1));
  return all.view(sizes);
}

torch::Tensor AdaptiveEmbedding::forward(const torch::Tensor& ids) const {
  TORCH_CHECK(ids.scalar_type() == at::kLong, "adaptive_embedding: ids must be int64, got ", ids.scalar_type());
  return (tables_.size() == 1 ? embed(0, ids) : by_cluster(ids)) * scale_;
}

std::optional<std::string> AdaptiveEmbedding::why_not_replayed() const {
  if (clusters_.size() == 1) return std::nullopt;
  return "the clusters of the adaptive embedding have sizes that depend on the tokens";
}

}  // namespace cachet::nn
