#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/nn/attention/attention_state.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// How a session uses the state that its calls share.
enum class SessionUse {
  segments,       // segment after segment, each attending to itself; caches continue
  memory,         // segment after segment: the inputs of earlier calls stay visible, as constants, projected anew
  decoding,       // token after token: the keys and values of all earlier calls stay visible
  fixed_context,  // all calls attend to the context of the first one, whose keys and values are projected once
};

/// An attention layer: owns its projections.
class Attention : public CopyableModule, public Observable {
 public:
  using CopyableModule::CopyableModule;

  /// query (B, Lq, D), context (B, Lk, Dc), or (1, Lk, Dc) when all samples share it. Returns (B, Lq, D), zero at
  /// padded queries. Self-attention passes the same tensor twice. In a session with a fixed context, calls after the
  /// first ignore the context, which may be undefined.
  virtual torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                                const AttentionArgs& args) = 0;

  /// The state of a session of `batch` rows before its first segment, for AttentionArgs::state.
  virtual std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const;

  /// From now on the layer also attends to the memory of a ConcatenatedCache, its part `cache`. `tokens` and `layout`:
  /// how many tokens there are in the model at its own input size, and how they lie. Throws c10::Error where its keys
  /// are in no softmax.
  virtual void concatenate_cache(int64_t tokens, const TokenLayout& layout);
  virtual bool has_cache() const { return false; }

  // For deployment. If a call is not possible, it throws c10::Error with the reason, and changes nothing.

  /// From now on the layer does to x what it did to before.apply(x), as query and as context.
  virtual void fold_affine_before(const Affine& before);
  [[deprecated("fold_affine_before")]] void absorb(const Affine& before) { fold_affine_before(before); }
  /// The same for the query alone.
  virtual void fold_affine_into_query(const Affine& before);
  [[deprecated("fold_affine_into_query")]] void absorb_into_query(const Affine& before) {
    fold_affine_into_query(before);
  }
  /// From now on the layer gives what after.apply() made of its result, but for padding, which stays zero.
  virtual void fold_affine_after(const Affine& after);
  [[deprecated("fold_affine_after")]] void absorb_behind(const Affine& after) { fold_affine_after(after); }
  /// A layer for evaluation that attends to this context whatever it is given: its keys and values are constants. It
  /// shares the other parameters.
  virtual std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const;
  /// A layer for evaluation that does the same without a cache's gates: what memory attention attends to is a constant.
  /// It shares the other parameters.
  virtual std::shared_ptr<Attention> freeze_cache() const;
};

using StreamUse [[deprecated("SessionUse")]] = SessionUse;

}  // namespace cachet::nn
