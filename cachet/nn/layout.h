#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace cachet::nn {

struct AttentionState;

/// The height and width of a grid of tokens. Tokens are in row-major order.
struct Grid {
  int64_t height = 0, width = 0;
  int64_t tokens() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

/// The arrangement of a sequence of tokens.
struct TokenLayout {
  std::optional<Grid> grid{};  // grid of the tokens after the class tokens
  int64_t class_tokens = 0;    // leading tokens that are off the grid
  at::Tensor padding{};        // (B, L) bool, true = padding; undefined = none
  int64_t full_length = 0;     // length of the model's longest sequence, with class tokens
                               // Set `full_length` if a batch may have only shorter sequences. If full_length is 0, the
                               // batch's number of tokens is used.
};

/// Additional arguments of attention to relative positions. A model computes the arguments for relative positions once
/// for all its layers.
struct RelativeLayout {
  at::Tensor distances{};  // (Lk, D): the model's encoding of the distances Lk − 1, …, 1, 0; undefined = none
  at::Tensor hidden{};     // (Lq, Lk) bool: true = the query does not see the key; undefined = none
};

/// The arguments of an attention layer, except the query and the context.
struct AttentionArgs {
  TokenLayout query{}, context{};
  at::Tensor bias{};                // additive, broadcastable to (B, H, Lq, Lk); undefined = no bias
                                    // If the bias's first dimension W divides B, sample b uses the bias b mod W: an
                                    // image's windows are consecutive samples.
  bool causal = false;              // key j is visible to query i iff j <= i + (Lk - Lq)
  AttentionState* state = nullptr;  // state of a session, owned by the caller; null = the call belongs to no session
  RelativeLayout relative{};        // for layers that attend to relative positions; other layers ignore it

  /// Returns the arguments of self-attention: the same layout for query and context.
  static AttentionArgs self(const TokenLayout& tokens) { return {tokens, tokens, {}, false, nullptr}; }
};

/// Throws c10::Error unless tokens are (B, L, channels) and fit the layout: L = class tokens + grid tokens; padding
/// is bool (B, L). The message begins with `owner`. Example: "multi_head_attention: query".
void check_tokens(const char* owner, const at::Tensor& tokens, int64_t channels, const TokenLayout& layout);

/// map_of() returns tokens (B, H·W, C) as a map (B, C, H, W); tokens_of() is the inverse. If the channels have stride
/// 1, as in a channels_last map, map_of() and tokens_of() return views.
at::Tensor map_of(const at::Tensor& tokens, const Grid& grid);
at::Tensor tokens_of(const at::Tensor& map);

/// Returns tokens (B, L, D) with zeros at padded positions.
at::Tensor zero_padding(const at::Tensor& tokens, const TokenLayout& layout);

using AttentionLayout [[deprecated("AttentionArgs")]] = AttentionArgs;

}  // namespace cachet::nn
