#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/pattern_length.h"

namespace cachet::nn {

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

  static const AttentionFunctionKind<LshOptions> kKind;
};

// Attention of Reformer (Kitaev et al., arXiv 2001.04451, Sec. 2) in two steps, so that each can be had alone: hashing
// gives every token a bucket, attending takes buckets as they are given.

/// Buckets of an angular hash (ibid., "Locality sensitive hashing"): argmax([xR, −xR]) for each round. x (B, H, L, d),
/// rotations R (H, rounds, d, buckets/2). Returns (B, H, rounds, L) int64 in [0, buckets). Not differentiable.
torch::Tensor lsh_buckets(const torch::Tensor& x, const torch::Tensor& rotations);

/// The tokens of each round in the order of their buckets, in a bucket by position, and padding (B, L) after all:
/// (B, H, rounds, L) positions. buckets (B, H, rounds, L), padding may be undefined.
torch::Tensor lsh_order(const torch::Tensor& buckets, const torch::Tensor& padding);

/// Attends in the order of buckets: rounds follow each other and are cut into chunks of chunk_size (the last may be
/// shorter), and chunk i of Nq attends to chunk ⌊i·Nk/Nq⌋ of the context and the one before it, the first one's being
/// the last. Buckets decide the order and nothing else. Rounds are weighted by the softmax of their logsumexp.
///
/// If options.pattern_length is PatternLength::model, each round begins with a chunk of its own, and chunks are counted
/// by the full lengths of the layout: chunks that are missing here count as padding, and the result is that of a
/// sequence that is padded to the full length. If it is PatternLength::batch, a chunk may hold the end of one round and
/// the beginning of the next, and chunks are counted by the tokens at hand. Where the chunk size divides these lengths,
/// both are the same.
///
/// q (B, H, Lq, d); k (B or 1, H, Lk, d) not normalised, v (B or 1, H, Lk, e); orders as lsh_order gives them. Where k
/// is q, the same tensor, a token attends to itself only if it sees nothing else. Padded keys of the layout's context
/// are not attended to. Time n·log n, for the sort, and memory linear in the length.
torch::Tensor lsh_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& query_order, const torch::Tensor& key_order, const LshOptions& options,
                            const AttentionArgs& args);

/// Order and attention above as one attention function. Queries and keys must come from one projection
/// (shares_query_and_key). In training
/// each forward draws rotations from the generator; evaluation hashes with those of the buffer `rotations`
/// (H, rounds, d, buckets/2), drawn when the layer is made. Throws c10::Error for causal layouts and a bias.
class LshAttention : public Cloneable<LshAttention, AttentionFunction> {
 public:
  LshAttention(const LshOptions& options, int64_t num_heads, int64_t head_dim);

  bool chooses_keys_by_value() const override { return true; }

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  LshOptions options_;
  RegisteredTensor rotations_;
};

}  // namespace cachet::nn
