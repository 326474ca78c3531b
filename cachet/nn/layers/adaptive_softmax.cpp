#include "cachet/nn/layers/adaptive_softmax.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <string>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/linear/linear_cross_entropy.h"

namespace cachet::nn {
namespace {

torch::Tensor made(at::IntArrayRef sizes, double standard_deviation) {
  torch::Tensor tensor = at::empty(sizes);
  return normal_(tensor, standard_deviation);
}

}  // namespace

AdaptiveSoftmax::AdaptiveSoftmax(const AdaptiveVocabulary& vocabulary, const AdaptiveTies& ties,
                                 const std::shared_ptr<const AdaptiveEmbedding>& embedding)
    : Cloneable("AdaptiveSoftmax"), dim_(vocabulary.dim), clusters_(clusters_of(vocabulary)) {
  TORCH_CHECK(embedding || !(ties.tables || ties.projections),
              "adaptive_softmax: tied tables or projections need the embedding whose tensors they share");
  const bool one_table = has_one_table(vocabulary);
  for (size_t i = 0; i < (one_table ? 1 : clusters_.size()); ++i) {
    const int64_t count = one_table ? vocabulary.tokens : clusters_[i].count;
    const std::string place = std::to_string(i);
    tables_.emplace_back() = register_parameter(
        "table_" + place, ties.tables ? torch::Tensor(embedding->table(i)) : made({count, clusters_[i].width}, 0.02));
    biases_.emplace_back() = register_parameter("bias_" + place, at::zeros({count}));
  }
  for (size_t i = 0; i < clusters_.size(); ++i) {
    projections_.emplace_back();
    if (!has_projections(vocabulary)) continue;
    const bool tied = ties.projections && i > 0;
    projections_.back() = register_parameter(
        "projection_" + std::to_string(i),
        tied ? torch::Tensor(embedding->projection(one_table ? 0 : i)) : made({dim_, clusters_[i].width}, 0.01));
  }
  const auto tails = static_cast<int64_t>(clusters_.size()) - 1;
  if (tails == 0) return;
  cluster_weight_ = register_parameter("cluster_weight", made({tails, clusters_[0].width}, 0.02));
  cluster_bias_ = register_parameter("cluster_bias", at::zeros({tails}));
}

std::vector<AdaptiveSoftmax::Scores> AdaptiveSoftmax::by_cluster() const {
  std::vector<int64_t> counts;
  for (const TokenCluster& cluster : clusters_) counts.push_back(cluster.count);
  // One split, whose gradient is put together once: each slice's own would be as large as the table.
  const bool one_table = tables_.size() < clusters_.size();
  const auto parts = [&](const std::vector<RegisteredTensor>& all) {
    return one_table ? all[0].split_with_sizes(counts) : std::vector<torch::Tensor>(all.begin(), all.end());
  };
  const std::vector<torch::Tensor> weights = parts(tables_), biases = parts(biases_);
  std::vector<Scores> scores;
  for (size_t i = 0; i < clusters_.size(); ++i) scores.push_back({weights[i], biases[i], projections_[i]});
  if (cluster_weight_.defined()) {
    scores[0].weight = at::cat({scores[0].weight, cluster_weight_});
    scores[0].bias = at::cat({scores[0].bias, cluster_bias_});
  }
  return scores;
}

int64_t AdaptiveSoftmax::column_of(size_t cluster) const {
  return clusters_[0].count + static_cast<int64_t>(clusters_.size() - 1 - cluster);
}

torch::Tensor AdaptiveSoftmax::project(const torch::Tensor& hidden, const Scores& scores) {
  return scores.projection.defined() ? ops::linear(hidden, scores.projection.t()) : hidden;
}

torch::Tensor AdaptiveSoftmax::log_softmax(const torch::Tensor& hidden, const Scores& scores) {
  const torch::Tensor product = ops::linear(project(hidden, scores), scores.weight);
  const auto dtype = c10::promoteTypes(product.scalar_type(), at::kFloat);
  return (product.to(dtype) + scores.bias).log_softmax(-1);
}

torch::Tensor AdaptiveSoftmax::negative_log_likelihood(const torch::Tensor& hidden, const torch::Tensor& target) const {
  TORCH_CHECK(hidden.dim() == 2 && hidden.size(1) == dim_, "adaptive_softmax: hidden must be (N, ", dim_, "), got ",
              hidden.sizes());
  TORCH_CHECK(target.dim() == 1 && target.size(0) == hidden.size(0) && target.scalar_type() == at::kLong,
              "adaptive_softmax: target must be int64 (N) = (", hidden.size(0), "), got ", target.scalar_type(), " ",
              target.sizes());
  const std::vector<Scores> scores = by_cluster();
  std::vector<torch::Tensor> rows(clusters_.size());
  torch::Tensor in_head = target;
  for (size_t i = 1; i < clusters_.size(); ++i) {
    const torch::Tensor within =
        target.ge(clusters_[i].first).logical_and_(target.lt(clusters_[i].first + clusters_[i].count));
    rows[i] = within.nonzero().squeeze(1).to(hidden.device());  // targets with values may meet tables without
    in_head = in_head.masked_fill(within, column_of(i));
  }
  // What is not a token must not become a cluster's column.
  const int64_t tokens = clusters_.back().first + clusters_.back().count;
  if (clusters_.size() > 1) in_head = at::where(target.ge(tokens), target + clusters_[0].count, in_head);
  const torch::Tensor own_target = target.to(hidden.device());
  torch::Tensor loss = ops::linear_cross_entropy(project(hidden, scores[0]), scores[0].weight, scores[0].bias,
                                                 in_head.to(hidden.device()))
                           .loss;
  for (size_t i = 1; i < clusters_.size(); ++i) {
    if (rows[i].numel() == 0) continue;
    const torch::Tensor own = project(hidden.index_select(0, rows[i]), scores[i]);
    const torch::Tensor of_own = own_target.index_select(0, rows[i]) - clusters_[i].first;
    loss = loss.index_add(0, rows[i], ops::linear_cross_entropy(own, scores[i].weight, scores[i].bias, of_own).loss);
  }
  return loss;
}

torch::Tensor AdaptiveSoftmax::log_probabilities(const torch::Tensor& hidden) const {
  TORCH_CHECK(hidden.dim() == 2 && hidden.size(1) == dim_, "adaptive_softmax: hidden must be (N, ", dim_, "), got ",
              hidden.sizes());
  const std::vector<Scores> scores = by_cluster();
  const torch::Tensor head = log_softmax(hidden, scores[0]);
  if (clusters_.size() == 1) return head;
  std::vector<torch::Tensor> all{head.narrow(1, 0, clusters_[0].count)};
  for (size_t i = 1; i < clusters_.size(); ++i)
    all.push_back(log_softmax(hidden, scores[i]) + head.select(1, column_of(i)).unsqueeze(1));
  return at::cat(all, 1);
}

std::optional<std::string> AdaptiveSoftmax::why_not_replayed() const {
  if (clusters_.size() == 1) return std::nullopt;
  return "the clusters of the adaptive softmax have sizes that depend on the tokens";
}

}  // namespace cachet::nn
