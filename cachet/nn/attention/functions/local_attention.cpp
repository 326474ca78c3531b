#include "cachet/nn/attention/functions/local_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/ops/attention/block_attention.h"

namespace cachet::nn {
namespace {

// Narrow windows would waste most of a wide block.
int64_t block_size_for(int64_t window) { return window <= 32 ? 32 : 64; }

torch::Tensor on_device(std::vector<int64_t>& numbers, at::IntArrayRef sizes, const torch::Device& device) {
  return at::from_blob(numbers.data(), sizes, at::kLong).clone().to(device);
}

}  // namespace

constinit const AttentionFunctionKind<LocalOptions> LocalOptions::kKind{
    .name = "local",
    .read =
        [](const config::View& table) {
          const int64_t window = table.integer("window", LocalOptions{}.window, {0, 1 << 20});
          return LocalOptions{window, read_pattern_length(table)};
        },
    .make = [](const LocalOptions& o, int64_t, int64_t) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<LocalAttention>(o);
    },
    .traits = {.chooses_by_query = true},
    .exports = Export::traced};

LocalAttention::LocalAttention(const LocalOptions& options)
    : Cloneable("LocalAttention"),
      window_(options.window),
      block_size_(block_size_for(options.window)),
      pattern_length_(options.pattern_length) {
  TORCH_CHECK(window_ >= 0, "local_attention: window must be at least 0, got ", window_);
}

// The key that a query after the class tokens stands at.
int64_t LocalAttention::Lengths::place(int64_t query) const {
  if (causal) return query + keys - queries;
  return class_keys + query * (full_keys - class_keys) / (full_queries - class_queries);
}

LocalAttention::Bands LocalAttention::bands(const Lengths& l, const torch::Device& device) const {
  const int64_t queries = l.queries - l.class_queries, size = block_size_;
  std::vector<int64_t> query_positions, key_positions;
  for (int64_t i = 0; i < queries; ++i) query_positions.push_back(l.place(i));
  for (int64_t j = 0; j < l.keys; ++j) key_positions.push_back(j < l.class_keys ? ops::kSeenByAll : j);

  const int64_t rows = (queries + size - 1) / size, class_blocks = (l.class_keys + size - 1) / size;
  std::vector<std::vector<int64_t>> met(static_cast<size_t>(rows));
  size_t width = 0;
  for (int64_t row = 0; row < rows; ++row) {
    auto& blocks = met[static_cast<size_t>(row)];
    for (int64_t block = 0; block < class_blocks; ++block) blocks.push_back(block);
    const int64_t first = query_positions[static_cast<size_t>(row * size)] - window_;
    const int64_t last =
        query_positions[static_cast<size_t>(std::min((row + 1) * size, queries) - 1)] + (l.causal ? 0 : window_);
    if (last >= 0 && l.keys > 0)
      for (int64_t block = std::max(std::max<int64_t>(first, 0) / size, class_blocks);
           block <= std::min(last, l.keys - 1) / size; ++block)
        blocks.push_back(block);
    width = std::max(width, blocks.size());
  }
  std::vector<int64_t> table;
  for (auto& blocks : met) {
    blocks.resize(width, -1);
    table.insert(table.end(), blocks.begin(), blocks.end());
  }
  return {l, on_device(query_positions, {1, 1, queries}, device), on_device(key_positions, {l.keys}, device),
          on_device(table, {1, rows, static_cast<int64_t>(width)}, device)};
}

torch::Tensor LocalAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                     const AttentionArgs& args) {
  refuse_bias("local_attention", args);
  const Lengths lengths{q.size(2),
                        k.size(2),
                        args.causal ? 0 : args.query.class_tokens,
                        args.causal ? 0 : args.context.class_tokens,
                        pattern_tokens(pattern_length_, args.query, q.size(2)),
                        pattern_tokens(pattern_length_, args.context, k.size(2)),
                        args.causal};
  const auto bands =
      bands_.get([&](const Bands& kept) { return kept.lengths == lengths && kept.blocks.device() == q.device(); },
                 [&] { return this->bands(lengths, q.device()); });

  ops::KeysSeen seen;
  seen.query_positions = bands->query_positions;
  seen.key_positions = bands->key_positions.view({1, 1, -1});
  if (args.context.padding.defined())
    seen.key_positions = seen.key_positions.masked_fill(args.context.padding.unsqueeze(1), ops::kSeenByNone);
  seen.least = -window_;
  seen.most = args.causal ? 0 : window_;
  const int64_t before = lengths.class_queries;
  const torch::Tensor near = ops::block_attention(q.narrow(2, before, q.size(2) - before), k, v, bands->blocks,
                                                  block_size_, 1 / std::sqrt(static_cast<double>(q.size(3))), seen)
                                 .output;
  if (before == 0) return near;
  AttentionArgs all;
  all.context = args.context;
  const torch::Tensor of_class = softmax_attention(q.narrow(2, 0, before), k, v, all);
  return at::cat({of_class.transpose(1, 2), near.transpose(1, 2)}, 1).transpose(1, 2);
}

}  // namespace cachet::nn
