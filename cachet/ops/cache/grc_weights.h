#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <optional>

namespace cachet::ops {

// The three weights (Dm, 2·Dm) of grc_update for [cache, tokens], split and joined for the products of grc_update.

/// Returns the columns that multiply the cache.
inline at::Tensor cache_half(const at::Tensor& weight) { return weight.narrow_symint(1, 0, weight.sym_size(1) / 2); }

/// Returns the columns that multiply the tokens.
inline at::Tensor token_half(const at::Tensor& weight) {
  const auto width = weight.sym_size(1) / 2;
  return weight.narrow_symint(1, width, width);
}

/// Returns the three weights for the tokens (3·Dm, Dm): reset, update, candidate.
inline at::Tensor token_weights(const at::Tensor& reset, const at::Tensor& update, const at::Tensor& candidate) {
  return at::cat({token_half(reset), token_half(update), token_half(candidate)});
}

/// Returns the weights of both gates for the cache (2·Dm, Dm): reset, update.
inline at::Tensor gate_weights(const at::Tensor& reset, const at::Tensor& update) {
  return at::cat({cache_half(reset), cache_half(update)});
}

/// Returns the biases of both gates (2·Dm). Both gates must have a bias, or none.
inline std::optional<at::Tensor> gate_bias(const std::optional<at::Tensor>& reset,
                                           const std::optional<at::Tensor>& update, at::ScalarType dtype) {
  if (!reset) return std::nullopt;
  return at::cat({reset->to(dtype), update->to(dtype)});
}

}  // namespace cachet::ops
