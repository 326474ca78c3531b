#include "cachet/nn/attention/window_attention.h"

#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"

namespace cachet::nn {

std::shared_ptr<Attention> make_window_attention(const WindowAttentionOptions& o) {
  const MultiHeadOptions self{o.dim, o.num_heads, o.attention, Projection::fused, o.windows.window};
  const int64_t tokens = o.windows.window.tokens();
  const TokenLayout window{o.windows.window, 0, {}};
  if (!cached_layer_options(o.cache)) {
    const auto plain = std::make_shared<InWindows<MultiHeadAttention>>(o.windows, self);
    if (is_concatenated(o.cache)) plain->concatenate_cache(tokens, window);
    return plain;
  }
  const CachedAttentionOptions cached{o.dim, o.num_heads, tokens, window, o.cache};
  return std::make_shared<
      InWindows<CachedAttention>>(o.windows, cached, [&](int64_t dim, Branch branch) -> std::shared_ptr<Attention> {
    if (branch == Branch::self) return std::make_shared<MultiHeadAttention>(self);
    return std::make_shared<MultiHeadAttention>(MultiHeadOptions{dim, o.num_heads, o.attention, Projection::separate});
  });
}

}  // namespace cachet::nn
