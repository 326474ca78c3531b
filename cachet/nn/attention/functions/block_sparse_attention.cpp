#include "cachet/nn/attention/functions/block_sparse_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/ops/attention/block_attention.h"

namespace cachet::nn {
namespace {

constexpr int64_t kDrawBits = 31, kDrawnRows = 256, kNoBlock = -1;

BigBirdOptions read_block_sparse_attention(const config::View& table) {
  BigBirdOptions o;
  o.block_size = table.integer("block_size", o.block_size, AttentionRanges::kBlockSize);
  o.window = table.integer("window", o.window, {1, 1023});
  if (o.window % 2 == 0)
    table.problem("window", "must be odd, to have equally many blocks before and after the block of the query, got " +
                                std::to_string(o.window));
  o.random_blocks = table.integer("random_blocks", o.random_blocks, {0, 64});
  o.pattern_length = read_pattern_length(table);
  return o;
}

int64_t blocks_of(int64_t length, int64_t size) { return (length + size - 1) / size; }

// The block of the context that stands where each of the block rows 1 … Nq − 2 does, (Nq − 2, 1).
torch::Tensor own_blocks(int64_t query_blocks, int64_t context_blocks, const torch::TensorOptions& options) {
  return (at::arange(1, query_blocks - 1, options) * context_blocks).floor_divide(query_blocks).unsqueeze(1);
}

// The blocks that the inner ones meet, of those at hand, (H, rows, W).
torch::Tensor blocks_met(const torch::Tensor& random, const BlockPattern& pattern, int64_t window) {
  const int64_t rows = blocks_of(pattern.inner(), pattern.size);
  const torch::Tensor blocks = big_bird_blocks(random, pattern.context_blocks, window).narrow(1, 0, rows);
  return blocks.masked_fill(blocks.ge(blocks_of(pattern.keys, pattern.size)), kNoBlock);
}

torch::Tensor attend_to_blocks(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                               const torch::Tensor& blocks, int64_t inner, int64_t size, const TokenLayout& context) {
  ops::KeysSeen seen;
  if (context.padding.defined())
    seen.key_positions =
        at::arange(k.size(2), blocks.options()).masked_fill(context.padding, ops::kSeenByNone).unsqueeze(1);
  return ops::block_attention(q.narrow(2, size, inner), k, v, blocks, size,
                              1 / std::sqrt(static_cast<double>(q.size(3))), seen)
      .output;
}

// blocks(): what blocks_met() gives.
template <class Blocks>
torch::Tensor attend_by_pattern(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                const BlockPattern& pattern, const TokenLayout& context, const Blocks& blocks) {
  AttentionArgs dense;
  dense.context = context;
  if (pattern.is_dense()) return softmax_attention(q, k, v, dense);
  const int64_t size = pattern.size, inner = pattern.inner(), last = pattern.queries - size - inner;
  const torch::Tensor sparse = attend_to_blocks(q, k, v, blocks(), inner, size, context);
  const torch::Tensor first = q.narrow(2, 0, size);
  const torch::Tensor ends = last > 0 ? at::cat({first, q.narrow(2, size + inner, last)}, 2) : first;
  const torch::Tensor global = softmax_attention(ends, k, v, dense).transpose(1, 2);
  // The heads of a token next to each other, as the projection reads them.
  return at::cat({global.narrow(1, 0, size), sparse.transpose(1, 2), global.narrow(1, size, last)}, 1).transpose(1, 2);
}

void check_args(const AttentionArgs& args) {
  AttentionFunction::refuse_bias("block_sparse_attention", args);
  AttentionFunction::refuse_causal("block_sparse_attention", args);
}

}  // namespace

BlockPattern BlockPattern::of(const torch::Tensor& q, const torch::Tensor& k, const BigBirdOptions& options,
                              const AttentionArgs& args) {
  const auto blocks = [&](const TokenLayout& side, int64_t tokens) {
    return blocks_of(pattern_tokens(options.pattern_length, side, tokens), options.block_size);
  };
  return {q.size(2), k.size(2), blocks(args.query, q.size(2)), blocks(args.context, k.size(2)), options.block_size};
}

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
                                     const AttentionArgs& args) {
  check_args(args);
  const BlockPattern pattern = BlockPattern::of(q, k, options, args);
  return attend_by_pattern(q, k, v, pattern, args.context, [&] { return blocks_met(random, pattern, options.window); });
}

constinit const AttentionFunctionKind<BigBirdOptions> BigBirdOptions::kKind{
    .name = "bigbird",
    .read = read_block_sparse_attention,
    .make = [](const BigBirdOptions& o, int64_t num_heads, int64_t) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<BlockSparseAttention>(o, num_heads);
    },
    .traits = {.chooses_by_query = true},
    .exports = Export::traced,
    .why_not_causal = no_causal_form<BigBirdOptions>};

BlockSparseAttention::BlockSparseAttention(const BigBirdOptions& options, int64_t num_heads)
    : Cloneable("BlockSparseAttention"), options_(options) {
  TORCH_CHECK(options.block_size >= 1, "block_sparse_attention: block_size must be at least 1, got ",
              options.block_size);
  TORCH_CHECK(options.window >= 1 && options.window % 2 == 1,
              "block_sparse_attention: window must be odd, to have equally many blocks before and after the block "
              "of the query, got ",
              options.window);
  TORCH_CHECK(options.random_blocks >= 0, "block_sparse_attention: random_blocks must be at least 0, got ",
              options.random_blocks);
  draws_ = register_buffer(
      "draws", at::randint(int64_t{1} << kDrawBits, {num_heads, kDrawnRows, options.random_blocks}, at::kLong));
}

bool BlockSparseAttention::Met::serves(const Met& wanted) const {
  return pattern == wanted.pattern && draws.is_same(wanted.draws) && drawn_at == wanted.drawn_at &&
         version == wanted.version && blocks.device() == wanted.draws.device();
}

torch::Tensor BlockSparseAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                           const AttentionArgs& args) {
  check_args(args);
  const BlockPattern pattern = BlockPattern::of(q, k, options_, args);
  const torch::Tensor draws = draws_;
  const auto make = [&] {
    return blocks_met(choose_random_blocks(draws, pattern.query_blocks, pattern.context_blocks, options_.window),
                      pattern, options_.window);
  };
  // They are the same from call to call, and no step of an exported graph.
  const auto kept_or_made = [&] {
    if (draws.is_inference()) return make();  // its version does not show when it is written
    const Met wanted{pattern, draws, draws.const_data_ptr(), draws._version(), {}};
    return met_
        .get([&](const Met& kept) { return kept.serves(wanted); },
             [&] {
               return Met{wanted.pattern, wanted.draws, wanted.drawn_at, wanted.version, make()};
             })
        ->blocks;
  };
  return attend_by_pattern(q, k, v, pattern, args.context, kept_or_made);
}

}  // namespace cachet::nn
