#pragma once

#include <algorithm>
#include <cstdint>

#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/pattern_length.h"
#include "cachet/nn/base/memoized.h"

namespace cachet::nn {

/// Block-sparse softmax attention (BigBird, arXiv 2007.14062, Sec. 2).
struct BigBirdOptions {
  int64_t block_size = 64;
  int64_t window = 3;         // blocks around a query's own, odd
  int64_t random_blocks = 3;  // for each block of queries and head
  PatternLength pattern_length = PatternLength::model;

  static const AttentionFunctionKind<BigBirdOptions> kKind;
};

/// The blocks of keys that each block of queries except the first and the last attends to, for queries of Nq ≥ 2 blocks
/// and a context of Nk ≥ 1: the first and the last one, those of the window around ⌊i·Nk/Nq⌋, and its random ones.
/// random (H, Nq − 2, R) int64, −1 for none. Returns (H, Nq − 2, 2 + window + R), each block once and −1 elsewhere.
torch::Tensor big_bird_blocks(const torch::Tensor& random, int64_t context_blocks, int64_t window);

/// Random blocks of a context of Nk blocks for the block rows 1 … Nq − 2, (H, Nq − 2, R), none twice, global or in the
/// window; −1 where there are not so many others. draws (H, rows, R) int64 in [0, 2^31): row i reads draws of row
/// (i − 1) modulo their number, and a draw stands for its fraction of the blocks there are to choose from.
torch::Tensor choose_random_blocks(const torch::Tensor& draws, int64_t query_blocks, int64_t context_blocks,
                                   int64_t window);

/// The tokens at hand, and the blocks of the lengths that the pattern of an attention follows.
struct BlockPattern {
  int64_t queries, keys, query_blocks, context_blocks, size;
  bool operator==(const BlockPattern&) const = default;

  static BlockPattern of(const torch::Tensor& q, const torch::Tensor& k, const BigBirdOptions& options,
                         const AttentionArgs& args);
  /// Whether every query sees all keys.
  bool is_dense() const { return query_blocks <= 2 || queries <= size; }
  /// Queries at hand of the blocks between the first and the last one, unless it is dense.
  int64_t inner() const { return std::min(queries, (query_blocks - 1) * size) - size; }
};

/// Attention of BigBird (Zaheer et al., arXiv 2007.14062, Sec. 2 and App. D): softmax over the blocks of keys above;
/// queries of the first and the last block see all keys, as does everything in a context of few blocks. Time and memory
/// are linear in the length.
///
/// q (B, H, Lq, d), k and v of Lk tokens; random as above. Nq and Nk are the blocks of the lengths that
/// options.pattern_length names: if the model reads longer sequences, the blocks that are missing here count as
/// padding, and the result is that of a sequence that is padded to the full length. The last block is shorter where the
/// block size does not divide the length. Leading class tokens are global as the first block is. Padded keys are not
/// attended to. Throws c10::Error for causal layouts and a bias.
torch::Tensor block_sparse_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                     const torch::Tensor& random, const BigBirdOptions& options,
                                     const AttentionArgs& args);

/// The same as an attention function, with random blocks of its own: the buffer `draws` (H, 256, R) comes from the
/// generator when the layer is made, is saved with the model, and fixes the pattern of every full length, in training
/// and evaluation alike.
class BlockSparseAttention : public Cloneable<BlockSparseAttention, AttentionFunction> {
 public:
  BlockSparseAttention(const BigBirdOptions& options, int64_t num_heads);

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  /// The blocks met for a pair of lengths, and what they were made of.
  struct Met {
    BlockPattern pattern;
    torch::Tensor draws;  // itself, to recognise another tensor
    const void* drawn_at;
    int64_t version;
    torch::Tensor blocks;
    bool serves(const Met& wanted) const;
  };

  BigBirdOptions options_;
  RegisteredTensor draws_;
  Memoized<Met> met_;
};

}  // namespace cachet::nn
