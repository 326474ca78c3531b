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
  int64_t window = 3;         // number of blocks (odd) in the window around a query's own block
  int64_t random_blocks = 3;  // number of random key blocks for each block of queries, in each head
  PatternLength pattern_length = PatternLength::model;

  static const AttentionFunctionKind<BigBirdOptions> kKind;
};

/// Returns the key blocks of each block of queries except the first and the last, for Nq ≥ 2 blocks of queries and Nk ≥
/// 1 blocks of keys: the first and the last block, the window around ⌊i·Nk/Nq⌋, and the random blocks. random (H, Nq −
/// 2, R) int64, −1 = no block -> (H, Nq − 2, 2 + window + R). For each block of queries, each key block occurs once,
/// and unused entries are −1.
torch::Tensor big_bird_blocks(const torch::Tensor& random, int64_t context_blocks, int64_t window);

/// Returns random key blocks for the blocks of queries i = 1 … Nq − 2, (H, Nq − 2, R). The random key blocks of a query
/// block are distinct, are not global, and are not in its window. If fewer than R key blocks are possible, unused
/// entries are −1. The random numbers `draws` (H, rows, R) are int64 in [0, 2^31); query block i uses row (i − 1) mod
/// rows. A random number x selects the block with the index ⌊x·n ÷ 2^31⌋ among the n blocks that remain.
torch::Tensor choose_random_blocks(const torch::Tensor& draws, int64_t query_blocks, int64_t context_blocks,
                                   int64_t window);

/// The sizes that determine a BigBird pattern: the lengths of queries and keys, the block size, and the numbers of
/// query blocks and key blocks.
struct BlockPattern {
  int64_t queries, keys, query_blocks, context_blocks, size;
  bool operator==(const BlockPattern&) const = default;

  static BlockPattern of(const torch::Tensor& q, const torch::Tensor& k, const BigBirdOptions& options,
                         const AttentionArgs& args);
  /// Whether every query sees all keys.
  bool is_dense() const { return query_blocks <= 2 || queries <= size; }
  /// Returns the number of queries between the first and the last query block. The pattern must not be dense.
  int64_t inner() const { return std::min(queries, (query_blocks - 1) * size) - size; }
};

/// Attention of BigBird (Zaheer et al., arXiv 2007.14062, Sec. 2 and Appendix D): softmax over the key blocks that
/// big_bird_blocks() returns. Queries of the first and the last block see all keys. If the pattern includes all blocks
/// of a (short) context, all queries see all keys. Time and memory are linear in the length.
///
/// q (B, H, Lq, d); k and v have Lk tokens; `random` is as in big_bird_blocks(). Nq and Nk count the blocks in
/// sequences of the lengths that options.pattern_length selects. If a selected length exceeds the batch's length, the
/// missing blocks count as padding: the result is that of a sequence padded to the full length. If the block size does
/// not divide the length, the last block is shorter. Leading class tokens are global tokens, like the tokens of the
/// first block. Padded keys are masked. Throws c10::Error if args is causal or has a bias.
torch::Tensor block_sparse_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                     const torch::Tensor& random, const BigBirdOptions& options,
                                     const AttentionArgs& args);

/// An attention function that calls block_sparse_attention() with its own random blocks. The layer draws the buffer
/// `draws` (H, 256, R) from the generator when it is made, and saves it with the model. The same buffer `draws`
/// determines the random blocks in training and in evaluation, for sequences of every length.
class BlockSparseAttention : public Cloneable<BlockSparseAttention, AttentionFunction> {
 public:
  BlockSparseAttention(const BigBirdOptions& options, int64_t num_heads);

 protected:
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                       const AttentionArgs& args) override;

 private:
  /// Cached key blocks for one pair of lengths (queries, keys), and the inputs of their computation.
  struct Met {
    BlockPattern pattern;
    torch::Tensor draws;  // the buffer from which `blocks` was computed: a new buffer makes `blocks` invalid
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
