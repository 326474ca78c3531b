#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <cachet/layers.h>

/// The exponential moving average of the mean sample of each training step: the layer's tokens, interpolated to the
/// cache's length, without gates. Its options have the members that the layer around a cache reads.
struct EmaCacheOptions {
  double ratio = 0.5;
  std::optional<int64_t> length = {};
  double share_start = 0.0;
  bool positional_convolution = false;
  double momentum = 0.99;  // of the average

  static const cachet::nn::CacheKind<EmaCacheOptions> kKind;
};

class EmaCache : public cachet::nn::Cloneable<EmaCache, cachet::nn::Cache> {
 public:
  EmaCache(const EmaCacheOptions& options, int64_t dim, int64_t model_tokens)
      : Cloneable("EmaCache"), momentum_(options.momentum) {
    const int64_t width = cachet::nn::cache_dim(options.ratio, dim);
    tokens_ = register_buffer(kTokens, at::zeros({1, options.length.value_or(model_tokens), width}));
  }

  // Memory attention reads the cache as it stood before the step. Evaluation stores nothing.
  cachet::nn::Memory step(const torch::Tensor& input, const torch::Tensor& /*self_output*/,
                          const cachet::nn::AttentionArgs& args) override {
    const torch::Tensor previous = tokens_.detach().clone();  // the backward pass needs what was read
    if (is_training() && (input.size(0) > 0 || reducer())) {
      const at::NoGradGuard no_grad;
      std::optional<torch::Tensor> padding;
      if (args.query.padding.defined()) padding = args.query.padding;
      const torch::Tensor x = input.narrow(2, 0, tokens_.size(2)).to(tokens_.scalar_type());
      const torch::Tensor resized = cachet::ops::resize_tokens(x, tokens_.size(1), padding);
      tokens_.lerp_(mean_over_replicas(resized.mean(0, /*keepdim=*/true), x.size(0)), 1 - momentum_);
    }
    return {previous, {}};
  }
  void declare_state(cachet::nn::AttentionState&) const override {}
  std::optional<std::string> why_memory_varies() const override { return std::nullopt; }

 private:
  cachet::nn::Memory stored_memory() const override { return {tokens_, {}}; }

  double momentum_;
  cachet::nn::RegisteredTensor tokens_;
};

// The record has no `.exports`, so `export` names the cache and refuses. It could have Export::traced, as in
// scale_norm.h.
inline constinit const cachet::nn::CacheKind<EmaCacheOptions> EmaCacheOptions::kKind{
    .name = "ema",
    .read =
        [](const cachet::config::View& table, cachet::nn::Sessions) {
          EmaCacheOptions o;
          o = cachet::nn::with_layer(o, cachet::nn::read_cached_layer(table, cachet::nn::layer_of(o)));
          o.momentum = table.real("momentum", o.momentum, {0.0, 1.0});
          return o;
        },
    .make = [](const EmaCacheOptions& o, int64_t dim, int64_t tokens, const cachet::nn::TokenLayout&)
        -> std::shared_ptr<cachet::nn::Cache> { return std::make_shared<EmaCache>(o, dim, tokens); }};
