#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/pattern_length.h"

namespace cachet::nn {

/// Scaled dot product attention with softmax.
struct SoftmaxOptions {
  double dropout = 0.0;  // of attention weights
};

/// Linear attention with φ(x) = elu(x) + 1 (Katharopoulos et al., arXiv 2006.16236, Eq. 7).
struct EluOptions {
  double eps = 1e-6;  // added to each query's denominator
};

/// The form of a trained feature map (Trainable feed-forward kernels, arXiv 2211.04076, p. 2).
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

/// The random features of a Performer (FAVOR+, arXiv 2009.14794, Sec. 2).
enum class RandomFeatures {
  softmax,  // exp(w·x − ‖x‖²/2 − largest) + ε, which estimates the softmax
  relu,     // max(w·x, 0) + ε, the generalised form
};

struct PerformerOptions {
  RandomFeatures form = RandomFeatures::softmax;
  int64_t count = 0;               // of features; 0 means ⌊d·ln d⌋ for heads of d channels
  std::optional<double> eps = {};  // added to each feature; unset: 1e-4 for softmax, 1e-3 for relu
  double causal_eps = 1e-6;        // added to each entry of the sum of key features in causal attention
  int64_t redraw_every = 0;        // training forwards; 0 keeps the features that the layer began with
};

/// Block-sparse softmax attention (BigBird, arXiv 2007.14062, Sec. 2).
struct BigBirdOptions {
  int64_t block_size = 64;
  int64_t window = 3;         // blocks around a query's own, odd
  int64_t random_blocks = 3;  // for each block of queries and head
  PatternLength pattern_length = PatternLength::model;
};

/// How LSH attention scores a query and a key of the same projection.
enum class LshScore {
  unit,    // q·k/√(‖k‖² + d·1e-6), as trax and Hugging Face have it
  scaled,  // q·k/(‖k‖√d), as lucidrains has it
};

/// Attention within buckets of a locality-sensitive hash (Reformer, arXiv 2001.04451, Sec. 2).
struct LshOptions {
  int64_t chunk_size = 64;  // tokens, in the order of their buckets, that attend to each other and to the chunk before
  int64_t buckets = 64;     // even
  int64_t rounds = 1;       // of hashing
  LshScore score = LshScore::unit;
  PatternLength pattern_length = PatternLength::model;
};

/// Softmax attention to the keys around a query's place.
struct LocalOptions {
  int64_t window = 128;  // the farthest key, in tokens
  PatternLength pattern_length = PatternLength::model;
};

using AttentionFunctionOptions =
    std::variant<SoftmaxOptions, EluOptions, KernelOptions, PerformerOptions, BigBirdOptions, LshOptions, LocalOptions>;

/// Why no token can attend to those before it alone with this function; empty where each can. A token's result may
/// depend on no later token, and not on how many there are.
std::string why_not_causal(const AttentionFunctionOptions& options);

/// Whether queries and keys are to be one projection of the tokens.
bool shares_query_and_key(const AttentionFunctionOptions& options);

/// An attention function and the projections around it.
struct AttentionOptions {
  AttentionFunctionOptions function = {};
  bool qkv_bias = true, projection_bias = true;  // of the projections to heads, of the one back
  int64_t head_dim = 0;  // channels of a head; 0: those of the tokens, shared out among the heads
  double projection_dropout = 0.0;
};

/// Reads an `attention` table: kind = "softmax" | "elu" | "kernel" | "performer" | "bigbird" | "reformer" | "local",
/// that kind's options, and the projections', whose defaults are what a backbone was published with. The function is
/// that of the table alone: softmax where it names none.
AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults = {});

/// head_dim: channels of a query in one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
