#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/nn/layers/adaptive_embedding.h"
#include "cachet/nn/layers/adaptive_vocabulary.h"

namespace cachet::nn {

/// The parameters that the embeddings and the output layer share.
struct AdaptiveTies {
  bool tables = true;
  bool projections = true;  // projections of all clusters except the first, which has a projection of its own
};

/// The distribution of the next token over an adaptive vocabulary (Grave et al., arXiv 1609.04309), with projections of
/// the clusters (Dai et al., arXiv 1901.02860, published code). The head is a softmax over the tokens of the first
/// cluster and over the other clusters, each as one choice. Each other cluster has its own softmax:
///   p(token) = p_head(token)   in the first cluster,   p_head(cluster)·p_cluster(token)   in another cluster.
/// Parameters: table_i and bias_i (as in the embedding, one for all clusters or one for each); projection_i (dim,
/// width) of each cluster, if there are projections; cluster_weight and cluster_bias of the head's K columns for
/// clusters, if K is above 0. Of the K columns for clusters, column K − i stands for cluster i, as in the published
/// code. Initial weights are normal with a standard deviation of 0.02 (projections: 0.01); biases are 0.
class AdaptiveSoftmax : public Cloneable<AdaptiveSoftmax>, public NotReplayable {
 public:
  /// `embedding` must have the same vocabulary, and may be null if the softmax shares no parameter with it.
  AdaptiveSoftmax(const AdaptiveVocabulary& vocabulary, const AdaptiveTies& ties,
                  const std::shared_ptr<const AdaptiveEmbedding>& embedding);

  /// Returns −log p of the targets, in nats: hidden (N, dim), target (N) int64 (−1 = no target) -> (N) in float32 or
  /// wider, 0 for target −1. Throws c10::Error if a target is not a token.
  torch::Tensor negative_log_likelihood(const torch::Tensor& hidden, const torch::Tensor& target) const;
  /// Returns log p of all tokens: hidden (N, dim) -> (N, tokens), in float32 or wider.
  torch::Tensor log_probabilities(const torch::Tensor& hidden) const;

  std::optional<std::string> why_not_replayed() const override;

 private:
  struct Scores {
    torch::Tensor weight, bias, projection;  // (count, width), (count); (dim, width) or undefined
  };
  std::vector<Scores> by_cluster() const;  // the first element includes the columns of the clusters
  int64_t column_of(size_t cluster) const;
  static torch::Tensor project(const torch::Tensor& hidden, const Scores& scores);
  static torch::Tensor log_softmax(const torch::Tensor& hidden, const Scores& scores);

  int64_t dim_;
  std::vector<TokenCluster> clusters_;
  std::vector<RegisteredTensor> tables_, biases_, projections_;
  RegisteredTensor cluster_weight_, cluster_bias_;
};

}  // namespace cachet::nn
