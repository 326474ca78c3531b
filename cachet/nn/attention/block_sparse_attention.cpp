#include "cachet/nn/attention/block_sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachet/nn/attention/softmax_attention.h"
#include "cachet/ops/block_attention.h"

namespace cachet::nn {
namespace {

constexpr int64_t kDrawBits = 31, kDrawnRows = 256, kNoBlock = -1;

int64_t blocks_of(int64_t length, int64_t size) { return (length + size - 1) / size; }

// The block of the context that stands where each of the block rows 1 … Nq − 2 does, (Nq − 2, 1).
torch::Tensor own_blocks(int64_t query_blocks, int64_t context_blocks, const torch::TensorOptions& options) {
  return (at::arange(1, query_blocks - 1, options) * context_blocks).floor_divide(query_blocks).unsqueeze(1);
}

}  // namespace

torch::Tensor choose_random_blocks(const torch::Tensor& draws, int64_t query_blocks, int64_t context_blocks,
                                   int64_t window) {
  const int64_t rows = query_blocks - 2, count = draws.size(2);
  const torch::Tensor own = own_blocks(query_blocks, context_blocks, draws.options()).squeeze(1);
  // Of the blocks between the first and the last, those that the window leaves.
  const torch::Tensor first = (own - window / 2).clamp_min(1), last = (own + window / 2).clamp_max(context_blocks - 2);
  const torch::Tensor in_window = (last - first + 1).clamp_min(0), others = context_blocks - 2 - in_window;
  const torch::Tensor row = at::arange(rows, draws.options()).remainder(draws.size(1));
  const torch::Tensor drawn = draws.index_select(1, row);
  torch::Tensor ranks = drawn.slice(2, 0, 0);  // of those chosen already, ascending
  std::vector<torch::Tensor> chosen;
  for (int64_t i = 0; i < count; ++i) {
    const torch::Tensor left = others - i;
    torch::Tensor rank = (drawn.select(2, i) * left.clamp_min(0)).bitwise_right_shift(kDrawBits);
    for (int64_t j = 0; j < i; ++j) rank = rank + rank.ge(ranks.select(2, j));
    const torch::Tensor block = rank + 1, behind = block.ge(first).logical_and(in_window.gt(0));
    chosen.push_back((block + behind * in_window).masked_fill(left.le(0), kNoBlock));
    ranks = std::get<0>(at::cat({ranks, rank.unsqueeze(2)}, 2).sort(2));
  }
  return count > 0 ? at::stack(chosen, 2) : ranks;
}

torch::Tensor big_bird_blocks(const torch::Tensor& random, int64_t context_blocks, int64_t window) {
  const int64_t heads = random.size(0), rows = random.size(1), last = context_blocks - 1;
  const torch::Tensor own = own_blocks(rows + 2, context_blocks, random.options());
  const torch::Tensor around = own + at::arange(-(window / 2), window / 2 + 1, random.options());
  const torch::Tensor outside = around.le(0).logical_or(around.ge(last));  // or global
  const auto all = [&](int64_t block) { return at::full({heads, rows, 1}, block, random.options()); };
  return at::cat({all(last >= 0 ? 0 : kNoBlock), all(last > 0 ? last : kNoBlock),
                  around.masked_fill(outside, kNoBlock).expand({heads, -1, -1}), random},
                 2);
}

torch::Tensor block_sparse_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                     const torch::Tensor& random, const BigBirdOptions& options,
                                     const AttentionLayout& layout) {
  AttentionFunction::refuse_bias("block_sparse_attention", layout);
  AttentionFunction::refuse_causal("block_sparse_attention", layout);
  const int64_t size = options.block_size, length = q.size(2), query_blocks = blocks_of(length, size);
  AttentionLayout dense;
  dense.context = layout.context;
  if (query_blocks <= 2) return softmax_attention(q, k, v, dense);

  const int64_t inner = (query_blocks - 2) * size, last = length - size - inner;
  ops::KeysSeen seen;
  if (layout.context.padding.defined())
    seen.key_positions =
        at::arange(k.size(2), random.options()).masked_fill(layout.context.padding, ops::kSeenByNone).unsqueeze(1);
  const torch::Tensor blocks = big_bird_blocks(random, blocks_of(k.size(2), size), options.window);
  const torch::Tensor sparse = ops::block_attention(q.narrow(2, size, inner), k, v, blocks, size,
                                                    1 / std::sqrt(static_cast<double>(q.size(3))), seen)
                                   .output;
  const torch::Tensor ends = at::cat({q.narrow(2, 0, size), q.narrow(2, size + inner, last)}, 2);
  const torch::Tensor global = softmax_attention(ends, k, v, dense).transpose(1, 2);
  // The heads of a token side by side, as the projection behind wants them.
  return at::cat({global.narrow(1, 0, size), sparse.transpose(1, 2), global.narrow(1, size, last)}, 1).transpose(1, 2);
}

BlockSparseAttention::BlockSparseAttention(const BigBirdOptions& options, int64_t num_heads)
    : Cloneable("BlockSparseAttention"), options_(options) {
  TORCH_CHECK(options.block_size >= 1, "block_sparse_attention: block_size must be at least 1, got ",
              options.block_size);
  TORCH_CHECK(options.window >= 1 && options.window % 2 == 1,
              "block_sparse_attention: window must be odd, as many blocks before a query's own as behind it, got ",
              options.window);
  TORCH_CHECK(options.random_blocks >= 0, "block_sparse_attention: random_blocks must be at least 0, got ",
              options.random_blocks);
  draws_ = register_buffer(
      "draws", at::randint(int64_t{1} << kDrawBits, {num_heads, kDrawnRows, options.random_blocks}, at::kLong));
}

torch::Tensor BlockSparseAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                           const AttentionLayout& layout) {
  const int64_t query_blocks = blocks_of(q.size(2), options_.block_size);
  const int64_t context_blocks = blocks_of(k.size(2), options_.block_size);
  const torch::Tensor random =
      choose_random_blocks(draws_, std::max<int64_t>(query_blocks, 2), context_blocks, options_.window);
  return block_sparse_attention(q, k, v, random, options_, layout);
}

}  // namespace cachet::nn
