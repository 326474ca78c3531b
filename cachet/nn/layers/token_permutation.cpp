#include "cachet/nn/layers/token_permutation.h"

#include <ATen/ops/from_blob.h>

#include "cachet/ops/tokens/permute_tokens.h"

namespace cachet::nn {
namespace {

at::Tensor numbers_on(std::vector<int64_t>& numbers, const at::Device& device) {
  return at::from_blob(numbers.data(), {static_cast<int64_t>(numbers.size())}, at::kLong).clone().to(device);
}

}  // namespace

TokenPermutation::TokenPermutation(std::vector<int64_t> sources, int64_t tokens, const at::Device& device) {
  std::vector<int64_t> slots(static_cast<size_t>(tokens), -1);
  for (size_t place = 0; place < sources.size(); ++place)
    if (sources[place] >= 0) slots.at(static_cast<size_t>(sources[place])) = static_cast<int64_t>(place);
  sources_ = numbers_on(sources, device);
  slots_ = numbers_on(slots, device);
}

at::Tensor TokenPermutation::apply(const at::Tensor& tokens) const {
  return ops::permute_tokens(tokens, sources_, slots_);
}

at::Tensor TokenPermutation::inverse(const at::Tensor& slots) const {
  return ops::permute_tokens(slots, slots_, sources_);
}

}  // namespace cachet::nn
