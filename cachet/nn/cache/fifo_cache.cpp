#include "cachet/nn/cache/fifo_cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sort.h>
#include <c10/core/GradMode.h>

#include "cachet/nn/base/initialization.h"

namespace cachet::nn {
namespace {

FifoCacheOptions read_fifo_cache(const config::View& table, Sessions sessions) {
  FifoCacheOptions options;
  options = with_layer(options, read_cached_layer(table, layer_of(options)));
  options.scope = read_cache_scope(table, options.scope, sessions);
  return options;
}

}  // namespace

constinit const CacheKind<FifoCacheOptions> FifoCacheOptions::kKind{
    .name = "fifo",
    .read = read_fifo_cache,
    .make = [](const FifoCacheOptions& o, int64_t dim, int64_t tokens, const TokenLayout& layout)
        -> std::shared_ptr<Cache> { return std::make_shared<FifoCache>(o, dim, tokens, layout); },
    .exports = Export::traced};

FifoCache::FifoCache(const FifoCacheOptions& options, int64_t dim, int64_t model_tokens, const TokenLayout& layout)
    : Cloneable("FifoCache"), options_(options) {
  if (!options.length) memory_layout_ = {layout.grid, layout.class_tokens, {}};
  const int64_t width = cache_dim(options.ratio, dim);
  TORCH_CHECK(width >= 1, "fifo_cache: ratio ", options.ratio, " of ", dim,
              " channels leaves no channel; raise the ratio");
  tokens = register_buffer(kTokens, zeros({1, options.length.value_or(model_tokens), width}));
}

// The last Tm of [cache, valid tokens], batch row by batch row. cache (B or 1, Tm, Dm), x (B, L, Dm) -> (B, Tm, Dm)
torch::Tensor FifoCache::push(const torch::Tensor& cache, const torch::Tensor& x, const TokenLayout& layout) const {
  const int64_t batch = x.size(0), length = cache.size(1), width = cache.size(2);
  const torch::Tensor before = cache.expand({batch, length, width});
  if (!layout.padding.defined()) return at::cat({before, x}, 1).narrow(1, x.size(1), length);

  const torch::Tensor valid_first =
      std::get<1>(at::sort(layout.padding.to(at::kByte), /*stable=*/std::optional<bool>(true), /*dim=*/1));
  const torch::Tensor sorted = x.gather(1, valid_first.unsqueeze(2).expand({batch, x.size(1), width}));
  const torch::Tensor count = layout.padding.bitwise_not().sum(1, /*keepdim=*/true);
  const torch::Tensor kept = count + at::arange(length, count.options());
  return at::cat({before, sorted}, 1).gather(1, kept.unsqueeze(2).expand({batch, length, width}));
}

Memory FifoCache::step(const torch::Tensor& input, const torch::Tensor&, const AttentionArgs& args) {
  const bool batch_row = options_.scope == CacheScope::batch_row;
  TORCH_CHECK(
      !batch_row || args.state,
      "fifo_cache: `scope = \"lane\"` needs the session's state in AttentionArgs::state (Attention::make_state)");
  torch::Tensor previous = tokens.detach().clone();
  if (batch_row) {
    previous = previous.expand({input.size(0), -1, -1});
    if (const torch::Tensor held = args.state->get("cache"); held.defined()) previous = held;
  }
  if (batch_row || (is_training() && (input.size(0) > 0 || reducer()))) {  // no samples have no mean
    at::NoGradGuard no_grad;
    const torch::Tensor x = input.narrow(2, 0, tokens.size(2)).to(tokens.scalar_type());
    const torch::Tensor next = push(previous, x, args.query);
    if (batch_row)
      args.state->set("cache", next);
    else
      tokens.copy_(mean_over_replicas(next.mean(0, /*keepdim=*/true), next.size(0)));
  }
  return {previous, memory_layout_};
}

void FifoCache::declare_state(AttentionState& state) const {
  if (options_.scope == CacheScope::batch_row) state.declare("cache", StateOwner::batch_rows);
}

std::optional<std::string> FifoCache::why_memory_varies() const {
  if (options_.scope == CacheScope::batch_mean) return std::nullopt;
  return "fifo_cache: with `scope = \"lane\"`, the cache also changes in evaluation, because memory attention reads "
         "the tokens of each session";
}

}  // namespace cachet::nn
