#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/pattern_length.h"

namespace cachet::nn {

/// The score of a query and a key, which come from the same projection.
enum class LshScore {
  unit,    // q·k/√(‖k‖² + d·1e-6), as in trax and Hugging Face
  scaled,  // q·k/(‖k‖√d), as in lucidrains' code
};

/// Attention within buckets of a locality-sensitive hash (Reformer, arXiv 2001.04451, Sec. 2).
struct LshOptions {
  int64_t chunk_size = 64;  // tokens of a chunk, in bucket order; a chunk attends to itself and to the chunk before it
  int64_t buckets = 64;     // number of buckets, even
  int64_t rounds = 1;       // number of hash rounds
  LshScore score = LshScore::unit;
  PatternLength pattern_length = PatternLength::model;

  static const AttentionFunctionKind<LshOptions> kKind;
};

// Attention of Reformer (Kitaev et al., arXiv 2001.04451, Sec. 2) in two steps, which can be used separately: hashing
// gives every token a bucket, and attention takes given buckets.

/// Returns the buckets of an angular hash (ibid., "Locality sensitive hashing"): argmax([xR, −xR]) for each round. x
/// (B, H, L, d), rotations R (H, rounds, d, buckets/2) -> (B, H, rounds, L) int64 in [0, buckets). Not differentiable.
torch::Tensor lsh_buckets(const torch::Tensor& x, const torch::Tensor& rotations);

/// Returns the tokens of each round in the order of their buckets: (B, H, rounds, L) positions. Within a bucket, tokens
/// are in the order of their positions; padding (B, L) comes last. buckets (B, H, rounds, L); padding may be undefined.
torch::Tensor lsh_order(const torch::Tensor& buckets, const torch::Tensor& padding);

/// Attends in the order of buckets. The rounds, one after another, are cut into chunks of chunk_size (the last may be
/// shorter). Chunk i of Nq attends to chunk ⌊i·Nk/Nq⌋ of the context and to the chunk before it (for the first chunk,
/// the last). Buckets only decide the order. The weights of the rounds are the softmax of their logsumexp.
///
/// With PatternLength::model as options.pattern_length, each round begins with a new chunk, and chunks are
/// counted by the full lengths of the layout: missing chunks count as padding, and the result is that of a
/// sequence that is padded to the full length. With PatternLength::batch, a chunk may hold the end of one round
/// and the beginning of the next, and chunks are counted by the present tokens. If the chunk size divides the full
/// and the present lengths, both rules give the same result.
///
/// q (B, H, Lq, d); k (B or 1, H, Lk, d) not normalised; v (B or 1, H, Lk, e); orders from lsh_order. If k is the same
/// tensor as q, a token attends to itself only if it sees no other token. Padded keys (args.context) are
/// masked. Time is O(n·log n), because of the sort; memory is linear in the length.
torch::Tensor lsh_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& query_order, const torch::Tensor& key_order, const LshOptions& options,
                            const AttentionArgs& args);

/// lsh_order() and lsh_attention() as an attention function. Queries and keys must come from one
/// projection (shares_query_and_key). In training, each forward draws rotations from the generator.
/// Evaluation hashes with the buffer `rotations` (H, rounds, d, buckets/2), drawn when the layer is made.
/// Throws c10::Error if args is causal or has a bias.
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
