#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/nn/layers/adaptive_vocabulary.h"

namespace cachet::nn {

/// Embeddings of an adaptive vocabulary, multiplied by √dim (Dai et al., arXiv 1901.02860, published code). Parameters:
/// table_0 (tokens, embedding_dim), or one table_i (count, width) for each cluster if the clusters' widths differ; with
/// projections, one projection_i (dim, width) for each table. The initial values are normally distributed, with the
/// standard deviation 0.02 for tables and 0.01 for projections.
class AdaptiveEmbedding : public Cloneable<AdaptiveEmbedding>, public NotReplayable {
 public:
  explicit AdaptiveEmbedding(const AdaptiveVocabulary& vocabulary);
  /// Returns the embeddings (…, dim) of ids (…) int64. Throws c10::Error if an id is not a token.
  torch::Tensor forward(const torch::Tensor& ids) const;

  /// Return the embedding table i and the projection i. If the embedding has no projections, projection i is an
  /// undefined tensor. Clusters have one table each, or share one table.
  const RegisteredTensor& table(size_t i) const { return tables_.at(i); }
  const RegisteredTensor& projection(size_t i) const { return projections_.at(i); }

  std::optional<std::string> why_not_replayed() const override;

 private:
  torch::Tensor embed(size_t table, const torch::Tensor& ids) const;
  torch::Tensor by_cluster(const torch::Tensor& ids) const;

  double scale_;
  std::vector<TokenCluster> clusters_;  // one cluster for each table
  std::vector<RegisteredTensor> tables_, projections_;
};

}  // namespace cachet::nn
