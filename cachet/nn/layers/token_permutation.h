#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace cachet::nn {

/// An order of tokens, made once and used for many samples (ops::permute_tokens).
class TokenPermutation {
 public:
  TokenPermutation() = default;
  /// `sources` has the index of the token at each new position; −1 stands for zeros, and no token occurs twice.
  /// `tokens` is the number of tokens before the permutation.
  TokenPermutation(std::vector<int64_t> sources, int64_t tokens, const at::Device& device);

  at::Tensor apply(const at::Tensor& tokens) const;   // (B, tokens, C) -> (B, slots, C)
  at::Tensor inverse(const at::Tensor& slots) const;  // (B, slots, C) -> (B, tokens, C)
  at::Device device() const { return sources_.device(); }

 private:
  at::Tensor sources_, slots_;
};

}  // namespace cachet::nn
