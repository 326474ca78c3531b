#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>

#include <optional>

namespace cachet::ops {

// The three weights (Dm, 2·Dm) of grc_update multiply [cache, tokens]. The functions of this header split and join the
// weights for the products of grc_update.

/// Returns the columns of a weight for [cache, tokens] that multiply the cache.
inline at::Tensor cache_half(const at::Tensor& weight) { return weight.narrow_symint(1, 0, weight.sym_size(1) / 2); }

/// Returns the columns of a weight for [cache, tokens] that multiply the tokens.
inline at::Tensor token_half(const at::Tensor& weight) {
  const auto width = weight.sym_size(1) / 2;
  return weight.narrow_symint(1, width, width);
}

/// Returns the parts of the three weights that multiply the tokens, joined to (3·Dm, Dm) in the order reset, update,
/// candidate.
inline at::Tensor token_weights(const at::Tensor& reset, const at::Tensor& update, const at::Tensor& candidate) {
  return at::cat({token_half(reset), token_half(update), token_half(candidate)});
}

/// Returns the parts of both gates' weights that multiply the cache, joined to (2·Dm, Dm) in the order reset, update.
inline at::Tensor gate_weights(const at::Tensor& reset, const at::Tensor& update) {
  return at::cat({cache_half(reset), cache_half(update)});
}

/// Returns the biases of both gates (2·Dm). Either both gates have a bias, or neither gate has one.
inline std::optional<at::Tensor> gate_bias(const std::optional<at::Tensor>& reset,
                                           const std::optional<at::Tensor>& update, at::ScalarType dtype) {
  if (!reset) return std::nullopt;
  return at::cat({reset->to(dtype), update->to(dtype)});
}

}  // namespace cachet::ops
