#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/base/not_replayable.h"

namespace cachet::nn {

/// The random features of a Performer (FAVOR+, arXiv 2009.14794, Sec. 2).
enum class RandomFeatures {
  softmax,  // exp(w·x − ‖x‖²/2 − largest) + ε: these features estimate the softmax
  relu,     // max(w·x, 0) + ε: the generalised form
};

struct PerformerOptions {
  RandomFeatures form = RandomFeatures::softmax;
  int64_t count = 0;               // number of features; 0 means ⌊d·ln d⌋ for heads of d channels
  std::optional<double> eps = {};  // added to each feature; unset: 1e-4 for softmax, 1e-3 for relu
  double causal_eps = 1e-6;        // added to each entry of the sum of key features, in causal attention
  int64_t redraw_every = 0;        // number of training forwards between two draws of the features; 0: only one draw

  static const AttentionFunctionKind<PerformerOptions> kKind;
};

/// Returns the number that is added to each feature: options.eps, or the default of options.form if eps is unset.
double performer_eps(const PerformerOptions& options);

/// Draws random features (count, dim) from the generator, and computes in float64. The rows of each block of `dim` rows
/// are orthogonal to each other. The lengths of the rows are distributed like the lengths of normal vectors (FAVOR+,
/// arXiv 2009.14794, Sec. 2.4).
torch::Tensor orthogonal_features(int64_t count, int64_t dim, const torch::TensorOptions& options);

/// FAVOR+ (Choromanski et al., arXiv 2009.14794, Eq. 5 and 7–8): linear attention with a kernel of random features.
/// With x̂ = x·d^(−1/4) and the m rows w of `projection`:
///   softmax   φ(x) = (exp(w·x̂ − ‖x̂‖²/2 − c) + ε)/√m,  c: the largest w·x̂ of one query, or of all keys of a head;
///   relu      φ(x) = max(w·x̂, 0) + ε.
/// In causal attention, causal_eps is added to each entry of Σφ(k). Features are computed in float32
/// or wider, even under autocast, because the eight bits of bfloat16 are too few for an exponential. Works in every
/// layout of tokens, but accepts no attention bias.
///
/// Buffers: projection (m, d), which all heads share; and, if the projection is redrawn, forwards (1) int64, the number
/// of training forwards since the last draw.
class PerformerAttention : public Cloneable<PerformerAttention, AttentionFunction>, public NotReplayable {
 public:
  PerformerAttention(const PerformerOptions& options, int64_t num_heads, int64_t head_dim);

  /// Return φ of queries and φ of keys: (B, H, L, d) -> (B, H, L, m). If `padding` (B, L) is defined, padded keys do
  /// not count for c, the largest w·x̂ of the keys.
  torch::Tensor query_features(const torch::Tensor& q) const;
  torch::Tensor key_features(const torch::Tensor& k, const torch::Tensor& padding) const;

  std::optional<std::string> why_not_replayed() const override;

  RegisteredTensor projection;

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  torch::Tensor projected(const torch::Tensor& x) const;
  torch::Tensor positive(const torch::Tensor& x, const torch::Tensor& products, const torch::Tensor& largest) const;
  double scale() const;  // factor of the features
  void redraw();

  PerformerOptions options_;
  double eps_;
  RegisteredTensor forwards_;
};

}  // namespace cachet::nn
