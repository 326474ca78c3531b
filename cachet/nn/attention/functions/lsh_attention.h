#pragma once

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/pattern_length.h"

namespace cachet::nn {

/// The score of a query and a key. Queries and keys share one projection of the tokens.
enum class LshScore {
  unit,    // q·k/√(‖k‖² + d·1e-6), as in trax and Hugging Face
  scaled,  // q·k/(‖k‖√d), as in lucidrains' code
};

/// Softmax attention within the buckets of a locality-sensitive hash (Reformer, arXiv 2001.04451, Sec. 2).
struct LshOptions {
  int64_t chunk_size = 64;  // tokens of a chunk, in bucket order; a chunk attends to itself and to the previous chunk
  int64_t buckets = 64;     // number of buckets (even)
  int64_t rounds = 1;       // number of hash rounds
  LshScore score = LshScore::unit;
  PatternLength pattern_length = PatternLength::model;

  static const AttentionFunctionKind<LshOptions> kKind;
};

// Attention of Reformer (Kitaev et al., arXiv 2001.04451, Sec. 2) in two steps that can be used separately: a hash
// gives every token a bucket, and attention uses given buckets.

/// Returns the buckets of an angular hash (arXiv 2001.04451, Sec. 2, "Locality sensitive hashing"): argmax([xR, −xR])
/// for each round. x (B, H, L, d), rotations R (H, rounds, d, buckets/2) -> (B, H, rounds, L) int64 in [0, buckets).
/// Not differentiable.
torch::Tensor lsh_buckets(const torch::Tensor& x, const torch::Tensor& rotations);

/// Returns, for each round, the positions of the tokens, sorted by bucket: (B, H, rounds, L). Within a bucket,
/// positions ascend. Padded positions come after all buckets. buckets (B, H, rounds, L); padding (B, L) or undefined.
torch::Tensor lsh_order(const torch::Tensor& buckets, const torch::Tensor& padding);

/// Computes attention in the order of buckets (Reformer, arXiv 2001.04451, Sec. 2). The concatenated rounds are cut
/// into chunks of chunk_size tokens (the last may be shorter). The tokens of the queries form Nq chunks, and the tokens
/// of the context form Nk chunks. Chunk i of the queries attends to chunk j = ⌊i·Nk/Nq⌋ of the context and to chunk
/// j − 1 (to the last chunk, if j is 0). Buckets only set the order. Rounds are weighted by softmax(logsumexp).
///
/// If options.pattern_length is PatternLength::model, each round begins with a new chunk, and Nq and Nk follow from
/// full_length of the layouts. Missing chunks count as padding, so that the result equals the result for a sequence
/// padded to the full length. If options.pattern_length is PatternLength::batch, a chunk may contain the end of one
/// round and the beginning of the next, and Nq and Nk follow from the lengths of the batch. If the chunk size divides
/// the full lengths and the lengths of the batch, PatternLength::model and PatternLength::batch give the same result.
///
/// q (B, H, Lq, d); k (B or 1, H, Lk, d) not normalised; v (B or 1, H, Lk, e); orders from lsh_order(). If k and q are
/// the same tensor, a token attends to itself only if it sees no other token. Padded keys (args.context) are
/// masked. For n tokens, the time is O(n·log n), because the tokens are sorted, and the memory is O(n).
torch::Tensor lsh_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                            const torch::Tensor& query_order, const torch::Tensor& key_order, const LshOptions& options,
                            const AttentionArgs& args);

/// An attention function that calls lsh_order() and lsh_attention(). Queries and keys must share one projection of the
/// tokens (shares_query_and_key). In training, each forward pass draws new random rotations from the generator.
/// In evaluation, the rotations are the buffer `rotations` (H, rounds, d, buckets/2), drawn when the layer is made.
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
