#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/feed_forward.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// The three plug-ins of a backbone.
struct PlugIns {
  AttentionOptions attention;
  CacheOptions cache;
  NormOptions norm;
};

/// Reads the tables `attention`, `cache` and `norm`; `heads` are the backbone's defaults.
PlugIns read_plug_ins(const config::View& table, const HeadOptions& heads = {});

struct TransformerBlockOptions {
  int64_t dim = 0, num_heads = 0;
  double mlp_ratio = 4.0;
  double dropout = 0.0;           // in the feed-forward half
  double stochastic_depth = 0.0;  // of both branches
  double norm_eps = 1e-6;         // where the norm's options leave it open
  int64_t tokens = 0;             // at the model's own input size
  TokenLayout layout;             // of these

  FeedForwardOptions feed_forward() const;
};

/// Made in this order, so that a seed gives the same weights whatever the compiler: {attention, feed-forward half}.
struct BlockParts {
  std::shared_ptr<Attention> attention;
  std::shared_ptr<FeedForward> feed_forward;
};

/// Pre-norm transformer block: x + attn(norm1(x)), then x + mlp(norm2(x)). Parts: norm1, attn, norm2, mlp.
class TransformerBlock : public torch::nn::Module {
 public:
  /// With multi-head attention and a plain feed-forward half.
  TransformerBlock(const TransformerBlockOptions& options, const PlugIns& plug_ins);
  /// With parts of the backbone's own; of the options it reads dim, stochastic_depth and norm_eps.
  TransformerBlock(const TransformerBlockOptions& options, const NormOptions& norm, BlockParts parts);
  /// x (B, T, dim) -> (B, T, dim)
  torch::Tensor forward(const torch::Tensor& x, const AttentionLayout& layout);

 private:
  double stochastic_depth_;
  std::shared_ptr<Norm> norm1_, norm2_;
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<FeedForward> mlp_;
};

/// `depth` such blocks; their stochastic depth rises from 0 at the first to that of the options at the last.
std::vector<std::shared_ptr<TransformerBlock>> make_transformer_blocks(int64_t depth,
                                                                       const TransformerBlockOptions& options,
                                                                       const PlugIns& plug_ins);

}  // namespace cachet::nn
