#pragma once

#include <cstdint>
#include <memory>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"

namespace cachet::nn {

/// Scaled dot product attention with softmax.
struct SoftmaxOptions {
  double dropout = 0.0;  // of attention weights
};

/// Linear attention with φ(x) = elu(x) + 1 (Katharopoulos et al., arXiv 2006.16236, Eq. 7).
struct EluOptions {
  double eps = 1e-6;  // added to each query's denominator
};

/// The form of a trained feature map (Trainable feed-forward kernels, arXiv 2211.04076, Sec. 3).
enum class KernelForm {
  linear,             // softplus(x·W), one layer
  orthogonal_linear,  // the same, W kept orthogonal
  glu,                // layers of x·W ⊙ σ(x·G), the last softplus(x·W) ⊙ σ(x·G)
  orthogonal_glu,     // "OGLU": each W kept orthogonal
  low_rank_glu,       // "AOGLU": that, and each gate the product of an n × r and an r × n matrix
  feed_forward,       // layers of activation(x·W), the last softplus(x·W)
};
enum class KernelActivation { gelu, sigmoid };
enum class KernelBetween { none, layer_norm };

struct KernelOptions {
  KernelForm form = KernelForm::glu;
  int64_t layers = 1;     // 1 for the linear forms
  int64_t gate_rank = 0;  // r of AOGLU; 0 means a quarter of a head's channels
  bool head_wise = true;  // each head has weights of its own
  double penalty = 0.01;  // weight of Σ_h ‖WWᵀ − I‖²_F in the loss, for weights kept orthogonal
  double eps = 0.0;       // added to each query's denominator
  KernelActivation activation = KernelActivation::gelu;  // of feed_forward
  KernelBetween between = KernelBetween::none;           // of feed_forward: a norm behind each hidden layer
};

using AttentionFunctionOptions = std::variant<SoftmaxOptions, EluOptions, KernelOptions>;

struct AttentionOptions {
  AttentionFunctionOptions function = {};
  bool qkv_bias = true;
  double projection_dropout = 0.0;
};

/// What a backbone was published with.
struct AttentionDefaults {
  bool qkv_bias = true;
};

/// Reads an `attention` table: kind = "softmax" | "elu" | "kernel", that kind's options, qkv_bias, projection_dropout.
AttentionOptions read_attention_options(const config::View& table, const AttentionDefaults& defaults = {});

/// head_dim: channels of a query in one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
