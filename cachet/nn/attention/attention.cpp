#include "cachet/nn/attention/attention.h"

#include "cachet/nn/cache/cache_options.h"

namespace cachet::nn {

std::shared_ptr<AttentionState> Attention::make_state(int64_t batch, SessionUse) const {
  return std::make_shared<AttentionState>(batch);
}

void Attention::concatenate_cache(int64_t, const TokenLayout&) {
  TORCH_CHECK(false, name(), ": cannot attend to a concatenated cache: ", kConcatenatedIsForImages);
}

void Attention::fold_affine_before(const Affine&) {
  TORCH_CHECK(false, name(), ": cannot fold in an affine map, because not all modules that read the input are linear");
}

void Attention::fold_affine_into_query(const Affine&) {
  TORCH_CHECK(false, name(),
              ": cannot fold an affine map into the queries, because queries and keys share a projection");
}

void Attention::fold_affine_after(const Affine&) {
  TORCH_CHECK(false, name(), ": cannot fold in an affine map of the output, which does not come from a linear layer");
}

std::shared_ptr<Attention> Attention::with_fixed_context(const torch::Tensor&, const TokenLayout&) const {
  TORCH_CHECK(false, name(), ": cannot have constant keys and values");
}

std::shared_ptr<Attention> Attention::freeze_cache() const { TORCH_CHECK(false, name(), ": has no cache to freeze"); }

}  // namespace cachet::nn
