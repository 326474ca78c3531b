#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "cachet/nn/attention/attention_state.h"
#include "cachet/nn/base/cloneable.h"
#include "cachet/nn/base/observer.h"
#include "cachet/nn/layers/affine.h"
#include "cachet/nn/layout.h"

namespace cachet::nn {

/// Selects how the calls of a session use the session's state.
enum class SessionUse {
  segments,       // each call is one segment; its tokens attend to each other; caches continue from call to call
  memory,         // each call is one segment; inputs of earlier calls stay visible as constants, and are projected anew
  decoding,       // each call has the next tokens; the keys and values of all earlier calls stay visible
  fixed_context,  // all calls attend to the context of the first call; the first call projects keys and values
};

/// An attention layer with its projections.
class Attention : public CopyableModule, public Observable {
 public:
  using CopyableModule::CopyableModule;

  /// query (B, Lq, D); context (B, Lk, Dc), or (1, Lk, Dc) if all samples share one context. Returns (B, Lq, D), with
  /// zeros at padded queries. For self-attention, pass one tensor both as the query and as the context. In a session
  /// with a fixed context, calls after the first ignore the context, which may be undefined.
  virtual torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context,
                                const AttentionArgs& args) = 0;

  /// Returns the initial state (for AttentionArgs::state) of a session with `batch` batch rows.
  virtual std::shared_ptr<AttentionState> make_state(int64_t batch, SessionUse use) const;

  /// Adds a ConcatenatedCache (part `cache`) to the layer. After this call, the layer also attends to the memory of the
  /// cache. `tokens` and `layout`: the number and the layout of the model's tokens at the model's own input size.
  /// Throws c10::Error unless the attention function of the layer is softmax.
  virtual void concatenate_cache(int64_t tokens, const TokenLayout& layout);
  virtual bool has_cache() const { return false; }

  // Functions for deployment. If a function for deployment cannot be applied, it throws c10::Error with the reason and
  // changes nothing.

  /// Folds `before` into the layer. After this call, the layer returns for x (as query and context) the result that it
  /// returned earlier for before.apply(x).
  virtual void fold_affine_before(const Affine& before);
  [[deprecated("fold_affine_before")]] void absorb(const Affine& before) { fold_affine_before(before); }
  /// Folds the affine map `before` into the layer's query, but not into its keys and values.
  virtual void fold_affine_into_query(const Affine& before);
  [[deprecated("fold_affine_into_query")]] void absorb_into_query(const Affine& before) {
    fold_affine_into_query(before);
  }
  /// Folds `after` into the layer. After this call, the layer returns after.apply() of its earlier result. Padded
  /// positions stay zero.
  virtual void fold_affine_after(const Affine& after);
  [[deprecated("fold_affine_after")]] void absorb_behind(const Affine& after) { fold_affine_after(after); }
  /// Returns a layer for evaluation that always attends to `context`, with constant keys and values. Apart from keys
  /// and values, the new layer has the parameters of this layer.
  virtual std::shared_ptr<Attention> with_fixed_context(const torch::Tensor& context, const TokenLayout& layout) const;
  /// Returns a layer with the same results in evaluation. The new layer has no cache gates: memory attention uses
  /// constant keys and values. Apart from the cache gates, the new layer has the parameters of this layer.
  virtual std::shared_ptr<Attention> freeze_cache() const;
};

using StreamUse [[deprecated("SessionUse")]] = SessionUse;

}  // namespace cachet::nn
