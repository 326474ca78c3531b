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

/// The three plug-ins of a backbone, and the outliers that its blocks meet in training.
struct PlugIns {
  AttentionOptions attention{};
  CacheOptions cache{};
  NormOptions norm{};
  OutlierOptions outliers{};
};

/// Reads the tables `attention`, `cache`, `norm` and `outliers`; `attention` has the projections that the backbone was
/// published with.
PlugIns read_plug_ins(const config::View& table, const AttentionOptions& attention = {},
                      Sessions sessions = Sessions::none);

/// The position of a block's norms.
enum class NormPlace {
  before,  // of each branch's input: x + f(norm(x)) (pre-norm)
  after,   // of each sum: norm(x + f(x)) (post-norm, Vaswani et al., arXiv 1706.03762)
};

/// Attention to the tokens of an encoder, between self-attention and feed-forward half.
struct CrossAttentionOptions {
  int64_t context_dim = 0;  // channels of the encoder's tokens; 0: the block's own
};

struct TransformerBlockOptions {
  int64_t dim = 0, num_heads = 0;
  double mlp_ratio = 4.0;
  double dropout = 0.0;           // in the feed-forward half
  double stochastic_depth = 0.0;  // of all branches
  double norm_eps = 1e-6;         // where the norm's options leave it open
  int64_t tokens = 0;             // at the model's own input size
  TokenLayout layout{};           // of these
  NormPlace norm_place = NormPlace::before;
  Activation activation = Activation::gelu;  // of the feed-forward half
  std::optional<CrossAttentionOptions> cross_attention = {};

  FeedForwardOptions feed_forward() const;
};

/// The parts of a block, made in this order, so that a seed gives the same weights with any compiler: {attention,
/// feed-forward half, cross attention}; the last is null in a block without an encoder.
struct BlockParts {
  std::shared_ptr<Attention> attention;
  std::shared_ptr<FeedForward> feed_forward;
  std::shared_ptr<Attention> cross_attention = nullptr;
};

/// What cross attention attends to: tokens (B, L, context_dim), or (1, L, context_dim) when all samples share them.
struct EncoderTokens {
  torch::Tensor tokens;
  TokenLayout layout;
};

/// Transformer block of two or three branches. Pre-norm: x + attn(norm1(x)), then x + cross_attn(cross_norm(x),
/// encoder) where there is an encoder, then x + mlp(norm2(x)); post-norm: the same with the norm of each sum in place
/// of the norm of each input. Parts: norm1, attn, norm2, mlp; cross_norm, cross_attn.
class TransformerBlock : public Cloneable<TransformerBlock>, public Foldable, public Observable {
 public:
  /// With multi-head attention and a plain feed-forward half.
  TransformerBlock(const TransformerBlockOptions& options, const PlugIns& plug_ins);
  /// With parts of the backbone's own; of the options it reads dim, stochastic_depth, norm_eps and norm_place, of the
  /// plug-ins norm and outliers.
  TransformerBlock(const TransformerBlockOptions& options, const PlugIns& plug_ins, BlockParts parts);

  /// x (B, T, dim) -> (B, T, dim). args.state is one that this block made; in a state for memory, the context of
  /// self-attention is the inputs of earlier calls, normed as x is, and then x. encoder: for a block with cross
  /// attention; in a session for decoding its tokens may be absent after the first call. Throws c10::Error if only one
  /// of block and call has an encoder. In training, outliers are put in x first.
  torch::Tensor forward(const torch::Tensor& x, const AttentionArgs& args, const EncoderTokens& encoder = {});

  /// The state of a session, in parts `attn` and `cross_attn`: decoding projects the encoder's tokens once. For memory
  /// it has the inputs of all earlier calls, unless AttentionState::keep_last limits them.
  std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const;

  /// norm1, cross_norm and norm2 go into the layers after them. In a post-norm block none does, because its sums bypass
  /// these layers.
  std::vector<NormFold> norm_folds() override;
  bool has_cache() const;
  /// For deployment, in evaluation: a cache that does not change becomes constant keys and values. If this is not
  /// possible, throws c10::Error with the reason.
  void freeze_cache();

 private:
  using Branch = std::function<torch::Tensor(const torch::Tensor& tokens, const torch::Tensor& context)>;
  /// The signals of a branch: the output of its norm, and its own output.
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

/// `depth` such blocks; their stochastic depth rises from 0 at the first to that of the options at the last.
std::vector<Submodule<TransformerBlock>> make_transformer_blocks(int64_t depth, const TransformerBlockOptions& options,
                                                                 const PlugIns& plug_ins);

}  // namespace cachet::nn
