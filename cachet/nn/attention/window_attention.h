#pragma once

#include <ATen/ops/zeros_like.h>

#include <memory>
#include <utility>

#include "cachet/nn/attention/attention_options.h"
#include "cachet/nn/base/memoized.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/nn/layers/windows.h"

namespace cachet::nn {

struct WindowSettings {
  Grid window{}, shift{};
  WindowOrder order = WindowOrder::shift_then_pad;
};

/// Attention of any form (Inner) in windows of a map: cuts the map, runs Inner in each window, and joins the windows.
/// The inner attention `Inner` processes the windows of all samples as one batch, with one window as its grid of
/// tokens. The bias masks pairs of tokens that are neighbours only because of a shift. The parameters are those of the
/// inner attention `Inner`.
template <class Inner>
class InWindows : public Cloneable<InWindows<Inner>, Inner> {
  using Base = Cloneable<InWindows<Inner>, Inner>;

 public:
  template <class... Arguments>
  explicit InWindows(const WindowSettings& settings, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), settings_(settings) {
    check_windows(settings_.window, settings_.shift);
  }

  torch::Tensor forward(const torch::Tensor& query, const torch::Tensor& context, const AttentionArgs& args) override {
    TORCH_CHECK(query.dim() == 3, "window_attention: query must be (B, L, D), got ", query.sizes());
    check_tokens("window_attention: query", query, query.size(2), args.query);
    TORCH_CHECK(query.is_same(context), "window_attention: is a self-attention; pass the query as context");
    TORCH_CHECK(args.query.grid && args.query.class_tokens == 0 && !args.query.padding.defined(),
                "window_attention: tokens must lie on a grid, without class tokens or padding");
    TORCH_CHECK(!args.causal && !args.state && !args.bias.defined(),
                "window_attention: cannot use a causal mask, a session state or an attention bias, because the tokens "
                "of a window have no order");
    const Grid map = *args.query.grid;
    const auto windows =
        windows_.get([&](const Windows& kept) { return kept.map() == map && kept.device() == query.device(); },
                     [&] { return Windows(map, settings_.window, settings_.shift, settings_.order, query.device()); });
    const torch::Tensor inside = windows->partition(query, beyond_);
    auto inner = AttentionArgs::self({settings_.window, 0, {}});
    inner.bias = windows->mask();
    return windows->merge(Inner::forward(inside, inside, inner));
  }

  /// Folds `before` into Inner. Replaces the values that fill windows beyond the map by their preimages under `before`,
  /// because the folded layer applies `before` to these values, too.
  void fold_affine_before(const Affine& before) override {
    const torch::Tensor filling = beyond_.defined() ? beyond_ : at::zeros_like(before.shift);
    const torch::Tensor preimage = (filling - before.shift) / before.scale;
    TORCH_CHECK(preimage.isfinite().all().template item<bool>(),
                "window_attention: cannot fold in an affine map with a scale of 0, because the fill values outside the "
                "map are divided by the scale");
    Inner::fold_affine_before(before);
    set_beyond(preimage);
  }

  std::shared_ptr<Attention> freeze_cache() const override {
    if constexpr (requires { typename Inner::Frozen; }) {
      const auto frozen = std::make_shared<InWindows<typename Inner::Frozen>>(settings_, this->frozen_parts());
      if (beyond_.defined()) frozen->set_beyond(beyond_);
      return frozen;
    } else if constexpr (requires(InWindows & self) { self.hold_memory(); }) {
      const auto frozen = std::make_shared<InWindows>(*this);
      frozen->hold_memory();
      return frozen;
    } else {
      return Inner::freeze_cache();
    }
  }

 private:
  template <class Other>
  friend class InWindows;

  void set_beyond(const torch::Tensor& filling) {
    if (beyond_.defined())
      beyond_.copy_(filling);
    else
      beyond_ = this->register_buffer("beyond", filling.detach().clone());
  }

  RegisteredTensor beyond_;  // (C): fill values of windows beyond the map; undefined = zeros
  WindowSettings settings_;
  Memoized<Windows> windows_;
};

struct WindowAttentionOptions {
  int64_t dim = 0, num_heads = 0;
  AttentionOptions attention = {};
  CacheOptions cache = {};  // the cache has Tm = window² tokens, unless the options set Tm
                            // A training step stores a mean over all windows of all samples.
  WindowSettings windows{};
};

/// Returns multi-head attention in windows, with a learned bias for each offset; with a cache if `cache` names one.
std::shared_ptr<Attention> make_window_attention(const WindowAttentionOptions& options);

}  // namespace cachet::nn
