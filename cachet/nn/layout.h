#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace cachet::nn {

struct AttentionState;

/// Height and width of tokens that lie on a grid, row by row.
struct Grid {
  int64_t height = 0, width = 0;
  int64_t tokens() const { return height * width; }
  bool operator==(const Grid&) const = default;
};

/// How a sequence of tokens lies.
struct TokenLayout {
  std::optional<Grid> grid{};  // of the tokens after the class tokens
  int64_t class_tokens = 0;    // leading tokens that are off the grid
  at::Tensor padding{};        // (B, L) bool, true = padding; undefined = none
  int64_t full_length = 0;     // of the longest sequence that the model reads, class tokens included, where batches may
                               // be shorter; 0 = the tokens at hand
};

/// Further arguments of attention to relative positions. The model makes them once for all of its layers.
struct RelativeLayout {
  at::Tensor distances{};  // (Lk, D): what the model makes of the distances Lk − 1, …, 1, 0; undefined = none
  at::Tensor hidden{};     // (Lq, Lk) bool: keys that a query does not see; undefined = none
};

/// Arguments of an attention layer other than its tokens.
struct AttentionArgs {
  TokenLayout query{}, context{};
  at::Tensor bias{};                // additive, broadcastable to (B, H, Lq, Lk); where its first dimension divides B,
                                    // it repeats (windows of a sample follow each other); undefined = none
  bool causal = false;              // key j is visible to query i iff j <= i + (Lk - Lq)
  AttentionState* state = nullptr;  // of a session, held by the caller; none = the call stands alone
  RelativeLayout relative{};        // for layers that attend to relative positions; others look at nothing of it

  /// The layout of self-attention: context tokens are the query's.
  static AttentionArgs self(const TokenLayout& tokens) { return {tokens, tokens, {}, false, nullptr}; }
};

/// Throws c10::Error unless tokens are (B, L, channels) and the layout fits them: grid and class tokens make L, padding
/// is bool (B, L). `owner` opens the message: "multi_head_attention: query".
void check_tokens(const char* owner, const at::Tensor& tokens, int64_t channels, const TokenLayout& layout);

/// Tokens (B, H·W, C) as a map (B, C, H, W), and a map as tokens. Both are views where channels lie densest, as they do
/// in a map of channels_last.
at::Tensor map_of(const at::Tensor& tokens, const Grid& grid);
at::Tensor tokens_of(const at::Tensor& map);

/// tokens (B, L, D) with zeros at the padding.
at::Tensor zero_padding(const at::Tensor& tokens, const TokenLayout& layout);

using AttentionLayout [[deprecated("AttentionArgs")]] = AttentionArgs;

}  // namespace cachet::nn
