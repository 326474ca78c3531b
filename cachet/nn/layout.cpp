#include "cachet/nn/layout.h"

#include <ATen/TensorOperators.h>

namespace cachet::nn {

void check_tokens(const char* owner, const at::Tensor& tokens, int64_t channels, const TokenLayout& layout) {
  TORCH_CHECK(tokens.defined() && tokens.dim() == 3, owner, " must be (B, L, D), got ",
              tokens.defined() ? tokens.sizes() : at::IntArrayRef());
  TORCH_CHECK(tokens.size(2) == channels, owner, " must be (B, L, ", channels, "), got ", tokens.sizes());
  const int64_t length = tokens.size(1);
  if (layout.grid)
    TORCH_CHECK(layout.class_tokens + layout.grid->tokens() == length, owner, " has ", length,
                " tokens, but the layout has ", layout.class_tokens, " class tokens and a grid of ",
                layout.grid->height, " x ", layout.grid->width, ", which are ",
                layout.class_tokens + layout.grid->tokens(), " tokens");
  if (layout.padding.defined())
    TORCH_CHECK(layout.padding.scalar_type() == at::kBool && layout.padding.sizes() == tokens.sizes().slice(0, 2),
                owner, ": padding must be bool (B, L) = ", tokens.sizes().slice(0, 2), ", got ",
                layout.padding.scalar_type(), " ", layout.padding.sizes());
}

at::Tensor map_of(const at::Tensor& tokens, const Grid& grid) {
  return tokens.transpose(1, 2).unflatten(2, {grid.height, grid.width});
}

at::Tensor tokens_of(const at::Tensor& map) { return map.flatten(2).transpose(1, 2); }

at::Tensor zero_padding(const at::Tensor& tokens, const TokenLayout& layout) {
  return layout.padding.defined() ? tokens.masked_fill(layout.padding.unsqueeze(-1), 0) : tokens;
}

}  // namespace cachet::nn
