#pragma once

#include <torch/nn/module.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/layers/feed_forward.h"
#include "cachet/nn/layers/outliers.h"
#include "cachet/nn/norm/folding.h"
#include "cachet/nn/norm/norm_options.h"

namespace cachet::nn {

/// The plug-ins (attention function, cache, norm) of a backbone, and the outliers that training adds to block inputs.
struct PlugIns {
  AttentionOptions attention{};
  CacheOptions cache{};
  NormOptions norm{};
  OutlierOptions outliers{};
};

/// Reads the tables `attention`, `cache`, `norm` and `outliers`. `attention`: the defaults of the table
/// `attention`, with the projections of the published backbone.
PlugIns read_plug_ins(const config::View& table, const AttentionOptions& attention = {},
                      Sessions sessions = Sessions::none);

/// The position of the norms in a block.
enum class NormPlace {
  before,  // before each branch: x + f(norm(x)) (pre-norm)
  after,   // after each sum: norm(x + f(x)) (post-norm, Vaswani et al., arXiv 1706.03762)
};

/// Attention to the tokens of an encoder. In a transformer block, cross attention is between self-attention and the
/// feed-forward network.
struct CrossAttentionOptions {
  int64_t context_dim = 0;  // channels of the encoder's tokens; 0: the channels of the block
};

struct TransformerBlockOptions {
  int64_t dim = 0, num_heads = 0;
  double mlp_ratio = 4.0;
  double dropout = 0.0;           // rate in the feed-forward network
  double stochastic_depth = 0.0;  // rate for all branches
  double norm_eps = 1e-6;         // eps of norms whose options do not set it
  int64_t tokens = 0;             // number of tokens at the model's own input size
  TokenLayout layout{};           // layout of these tokens
  NormPlace norm_place = NormPlace::before;
  Activation activation = Activation::gelu;  // activation of the feed-forward network
  std::optional<CrossAttentionOptions> cross_attention = {};

  FeedForwardOptions feed_forward() const;
};

/// The parts of a block: {attention, feed-forward network, cross attention}. The parts of a block are made in the order
/// attention, feed-forward network, cross attention, so that a seed gives the same weights with any compiler.
/// cross_attention is null in a block without an encoder.
struct BlockParts {
  std::shared_ptr<Attention> attention;
  std::shared_ptr<FeedForward> feed_forward;
  std::shared_ptr<Attention> cross_attention = nullptr;
};

/// The tokens that cross attention attends to: (B, L, context_dim), or (1, L, context_dim) if all samples share them.
struct EncoderTokens {
  torch::Tensor tokens;
  TokenLayout layout;
};

/// A transformer block of two or three branches. Pre-norm: x + attn(norm1(x)), then (with an encoder)
/// x + cross_attn(cross_norm(x), encoder), then x + mlp(norm2(x)). In a post-norm block, each norm applies to the sum
/// of a branch's input and output, instead of to the branch's input. Parts: norm1, attn, norm2, mlp; cross_norm,
/// cross_attn.
class TransformerBlock : public Cloneable<TransformerBlock>, public Foldable, public Observable {
 public:
  /// Makes a block with multi-head attention and a plain feed-forward network.
  TransformerBlock(const TransformerBlockOptions& options, const PlugIns& plug_ins);
  /// Makes a block from given parts, such as an attention of the backbone. Uses dim, stochastic_depth, norm_eps and
  /// norm_place of `options`, and norm and outliers of `plug_ins`.
  TransformerBlock(const TransformerBlockOptions& options, const PlugIns& plug_ins, BlockParts parts);

  /// x (B, T, dim) -> (B, T, dim). args.state must come from make_state(). With a state for memory, self-attention
  /// attends to the inputs of earlier calls, normalised like x, and to x. `encoder`: the tokens of the encoder, needed
  /// by a block with cross attention. In a decoding session, the encoder's tokens may be absent after the first call.
  /// Throws c10::Error if a block with cross attention gets neither `encoder` nor a state, or another block gets
  /// `encoder`. In training, outliers are added to x first.
  torch::Tensor forward(const torch::Tensor& x, const AttentionArgs& args, const EncoderTokens& encoder = {});

  /// Returns the state of a session, with parts `attn` and `cross_attn`. Decoding projects the encoder's tokens once.
  /// With SessionUse::memory, the state has the inputs of all earlier calls, up to the limit of keep_last().
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const;

  /// Returns how norm1, cross_norm and norm2 can be folded into the layers that follow them. A post-norm block folds no
  /// norm, because the norm's output is read not only by the layers of the next branch, but also by the block's next
  /// sum.
  std::vector<NormFold> norm_folds() override;
  bool has_cache() const;
  /// Replaces a cache that does not change by constant keys and values, for deployment. The block must be in evaluation
  /// mode. If the cache cannot be replaced, throws c10::Error with the reason.
  void freeze_cache();

 private:
  using Branch = std::function<torch::Tensor(const torch::Tensor& tokens, const torch::Tensor& context)>;
  /// The signals of a branch: the output of its norm, and the output of the branch.
  struct BranchSignals {
    Signal norm, output;
  };
  torch::Tensor add_branch(const torch::Tensor& x, const torch::Tensor& context, Norm& norm,
                           const torch::Tensor& padding, BranchSignals signals, const Branch& branch) const;

  NormPlace norm_place_;
  int64_t dim_;
  double stochastic_depth_;
  OutlierOptions outliers_;
  Submodule<Norm> norm1_, cross_norm_, norm2_;
  Submodule<Attention> attn_, cross_attn_;
  Submodule<FeedForward> mlp_;
};

/// Makes `depth` blocks. Stochastic depth rises from 0 in the first block to options.stochastic_depth in the last.
std::vector<Submodule<TransformerBlock>> make_transformer_blocks(int64_t depth, const TransformerBlockOptions& options,
                                                                 const PlugIns& plug_ins);

}  // namespace cachet::nn
