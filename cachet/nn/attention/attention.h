#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/nn/attention/attention_state.h"
#include "cachet/nn/layout.h"
#include "cachet/nn/observer.h"

namespace cachet::nn {

/// What a stream is for.
enum class StreamUse {
  segments,  // segment after segment, each attending to itself; caches go on
  decoding,  // token after token: the keys and values of all earlier calls stay visible
};

/// An attention layer: owns its projections.
class Attention : public torch::nn::Module, public Observable {
 public:
  using torch::nn::Module::Module;

  /// query (B, Lq, D), context (B, Lk, Dc), or (1, Lk, Dc) when all samples share it. Returns (B, Lq, D), zero at
  /// padded queries. Self-attention passes the same tensor twice.
  virtual torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                                const AttentionLayout& layout) = 0;

  /// The state of a stream of `batch` lanes before its first segment, for AttentionLayout::state.
  virtual std::shared_ptr<AttentionState> make_state(int64_t batch, StreamUse use) const = 0;
};

}  // namespace cachet::nn
