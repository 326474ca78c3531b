#include "cachet/nn/cache/gated_recurrent_cache.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <array>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/linear/product.h"
#include "cachet/ops/tokens/resize_tokens.h"

namespace cachet::nn {
namespace {

constexpr double kCandidateNormEps = 1e-5;

using Variant = GatedRecurrentCacheVariant;
constexpr std::array<config::Choice<Variant>, 2> kCacheVariants{
    {{"paper", Variant::paper}, {"official", Variant::official}}};
constexpr std::array<config::Choice<CacheAttend>, 2> kAttends{
    {{"mean", CacheAttend::mean}, {"per_sample", CacheAttend::per_sample}}};
constexpr std::array<config::Choice<CacheInference>, 3> kInferences{{{"frozen", CacheInference::frozen},
                                                                     {"per_sample", CacheInference::per_sample},
                                                                     {"updated", CacheInference::updated}}};
constexpr std::array<config::Choice<CacheGradient>, 3> kGradients{
    {{"recompute", CacheGradient::recompute}, {"detached", CacheGradient::detached}, {"carry", CacheGradient::carry}}};
constexpr std::array<config::Choice<CacheGates>, 2> kGates{
    {{"learned", CacheGates::learned}, {"half", CacheGates::half}}};

GatedRecurrentCacheOptions read_gated_recurrent_cache(const config::View& table, Sessions sessions) {
  auto options = GatedRecurrentCacheOptions::of(table.choice("variant", Variant::paper, kCacheVariants));
  options = with_layer(options, read_cached_layer(table, layer_of(options)));
  options.scope = read_cache_scope(table, options.scope, sessions);
  const bool batch_rows = options.scope == CacheScope::batch_row;
  options.attend = table.choice("attend", batch_rows ? CacheAttend::per_sample : options.attend, kAttends);
  options.inference = table.choice(
      "inference", batch_rows ? CacheInference::updated : options.inference.value_or(CacheInference::frozen),
      kInferences);
  if (options.inference == CacheInference::updated && sessions == Sessions::none)
    table.problem("inference", "'updated' is only for models that read texts in segments");
  options.gradient = table.choice("gradient", options.gradient, kGradients);
  options.gates = table.choice("gates", options.gates, kGates);
  options.pool = table.integer("pool", options.pool, {1, 64});
  if (batch_rows && options.attend == CacheAttend::mean)
    table.problem("attend", "'mean' would mix the batch rows of `scope = \"lane\"`; use 'per_sample'");
  return options;
}

// The operator multiplies with parts of them.
ops::GateWeights weights_of(const Linear& linear) { return {ops::unpacked_weight(linear.weight), linear.bias}; }

// The grid after pooling; windows at the lower and right border may be cut.
Grid pooled_grid(const Grid& grid, int64_t pool) {
  return {(grid.height + pool - 1) / pool, (grid.width + pool - 1) / pool};
}

AttentionState& batch_rows(const AttentionArgs& args, const char* why) {
  TORCH_CHECK(args.state, "gated_recurrent_cache: ", why,
              " needs the session's state in AttentionArgs::state (Attention::make_state)");
  return *args.state;
}

}  // namespace

constinit const CacheKind<GatedRecurrentCacheOptions> GatedRecurrentCacheOptions::kKind{
    .name = "grc",
    .read = read_gated_recurrent_cache,
    .make = [](const GatedRecurrentCacheOptions& o, int64_t dim, int64_t tokens, const TokenLayout& layout)
        -> std::shared_ptr<Cache> { return std::make_shared<GatedRecurrentCache>(o, dim, tokens, layout); },
    .exports = Export::traced};

GatedRecurrentCacheOptions GatedRecurrentCacheOptions::of(GatedRecurrentCacheVariant variant) {
  GatedRecurrentCacheOptions options;
  options.variant = variant;
  if (variant == Variant::official) {
    options.share_start = -1.0;
    options.positional_convolution = true;
    options.attend = CacheAttend::per_sample;
    options.inference = CacheInference::per_sample;
  }
  return options;
}

GatedRecurrentCache::GatedRecurrentCache(const GatedRecurrentCacheOptions& options, int64_t dim, int64_t model_tokens,
                                         const TokenLayout& layout)
    : Cloneable("GatedRecurrentCache"), options_(options) {
  const int64_t width = cache_dim(options.ratio, dim);
  TORCH_CHECK(width >= 1, "gated_recurrent_cache: ratio ", options.ratio, " of ", dim,
              " channels leaves no channel; raise the ratio");
  TORCH_CHECK(options.pool >= 1, "gated_recurrent_cache: pool must be at least 1, got ", options.pool);
  TORCH_CHECK(options.pool == 1 || layout.grid, "gated_recurrent_cache: pooling needs tokens on a grid");
  int64_t length = model_tokens;
  if (options.length) {
    length = *options.length;
  } else if (layout.grid) {
    memory_layout_ = {pooled_grid(*layout.grid, options.pool), layout.class_tokens, {}};
    length = layout.class_tokens + memory_layout_.grid->tokens();
  }
  if (options.gates == CacheGates::learned) {
    reset_gate_ = register_module("reset_gate", std::make_shared<Linear>(2 * width, width));
    update_gate_ = register_module("update_gate", std::make_shared<Linear>(2 * width, width));
  }
  candidate_ = register_module("candidate", std::make_shared<Linear>(2 * width, width));
  if (options.variant == GatedRecurrentCacheVariant::official)
    norm_ = register_module("norm", std::make_shared<LayerNorm>(width, kCandidateNormEps));
  tokens = register_buffer(kTokens, zeros({1, length, width}));
}

torch::Tensor GatedRecurrentCache::compress(const torch::Tensor& source, const TokenLayout& layout) const {
  torch::Tensor x = source.narrow(2, 0, tokens.size(2));
  std::optional<torch::Tensor> padding;
  if (layout.padding.defined()) padding = layout.padding;
  if (options_.pool > 1) {
    TORCH_CHECK(layout.grid && !padding, "gated_recurrent_cache: pooling needs tokens on a grid, without padding");
    const torch::Tensor grid = x.slice(1, layout.class_tokens)
                                   .transpose(1, 2)
                                   .reshape({x.size(0), x.size(2), layout.grid->height, layout.grid->width});
    const torch::Tensor pooled = at::avg_pool2d(grid, options_.pool, options_.pool, 0, /*ceil_mode=*/true);
    x = at::cat({x.slice(1, 0, layout.class_tokens), pooled.flatten(2).transpose(1, 2)}, 1);
  }
  return ops::resize_tokens(x, tokens.size(1), padding);
}

// Without learned gates one whose sigmoid is of nothing.
ops::GateWeights GatedRecurrentCache::gate(const Submodule<Linear>& learned) const {
  if (learned) return weights_of(*learned);
  return {at::zeros(candidate_->weight.sizes(), candidate_->options()),
          at::zeros_like(candidate_->bias, at::TensorOptions().requires_grad(false))};
}

// The operator keeps its gates to itself: whoever listens gets them computed once more.
void GatedRecurrentCache::tell_gates(const torch::Tensor& cache, const torch::Tensor& x) const {
  const at::NoGradGuard no_grad;
  const torch::Tensor both = at::cat({cache.expand({x.size(0), -1, -1}).to(x.scalar_type()), x}, 2);
  const auto opening = [&](const Submodule<Linear>& learned) {
    const ops::GateWeights weights = gate(learned);
    return at::linear(both.to(weights.weight.scalar_type()), weights.weight, weights.bias).sigmoid();
  };
  notify(Signal::reset_gate, opening(reset_gate_));
  notify(Signal::update_gate, opening(update_gate_));
}

ops::GrcUpdated GatedRecurrentCache::update(const torch::Tensor& cache, const torch::Tensor& x) const {
  if (observed({Signal::reset_gate, Signal::update_gate})) tell_gates(cache, x);
  std::optional<ops::CandidateNorm> norm;
  if (norm_) norm = ops::CandidateNorm{norm_->weight, norm_->bias, kCandidateNormEps};
  ops::GrcUpdated next =
      ops::grc_update(cache, x, gate(reset_gate_), gate(update_gate_), weights_of(*candidate_), norm);
  if (is_training() && options_.scope == CacheScope::batch_mean) next.mean = mean_over_replicas(next.mean, x.size(0));
  return next;
}

void GatedRecurrentCache::declare_state(AttentionState& state) const {
  const auto owner = options_.scope == CacheScope::batch_row ? StateOwner::batch_rows : StateOwner::shared;
  state.declare("cache", owner);
  state.declare("last_tokens", StateOwner::batch_rows);
  state.declare("last_cache", owner);
}

std::optional<std::string> GatedRecurrentCache::why_memory_varies() const {
  const std::string name = "gated_recurrent_cache: ";
  if (options_.scope == CacheScope::batch_row)
    return name +
           "with `scope = \"lane\"`, the cache also changes in evaluation, because memory attention reads the cache of "
           "each session";
  if (moves_in_evaluation())
    return name +
           "with `inference = \"updated\"`, the cache also changes in evaluation, because memory attention reads the "
           "cache that the session has updated";
  if (options_.inference_or_default() != CacheInference::frozen)
    return name +
           "with `inference = \"per_sample\"`, a copy of the cache is updated for each sample, so the tokens that "
           "memory attention reads depend on the input";
  return std::nullopt;
}

std::optional<std::string> GatedRecurrentCache::why_memory_is_unfamiliar() const {
  if (options_.scope == CacheScope::batch_row || options_.attend == CacheAttend::mean ||
      options_.inference_or_default() != CacheInference::frozen)
    return std::nullopt;
  return "training attends to the cache of each sample (attend = \"per_sample\"), but evaluation attends to the stored "
         "mean of all caches (inference = \"frozen\"), which training never uses. Set both to \"per_sample\", or set "
         "attend = \"mean\"";
}

// A batch row is a sample whose cache continues.
bool GatedRecurrentCache::moves_in_evaluation() const {
  const CacheInference inference = options_.inference_or_default();
  return inference == CacheInference::updated ||
         (inference == CacheInference::per_sample && options_.scope == CacheScope::batch_row);
}

// If the cache is in the session's state, the option that is the reason; else null.
const char* GatedRecurrentCache::held_by_session(const AttentionArgs& args) const {
  if (options_.scope == CacheScope::batch_row) return "`scope = \"lane\"`";
  if (!is_training()) return updates() ? "inference = updated" : nullptr;
  return args.causal && options_.gradient == CacheGradient::carry ? "gradient = carry" : nullptr;
}

torch::Tensor GatedRecurrentCache::stored(const AttentionArgs& args, int64_t batch) const {
  if (const char* why = held_by_session(args)) {
    const torch::Tensor held = batch_rows(args, why).get("cache");
    if (held.defined()) return held;
    if (options_.scope == CacheScope::batch_row) return tokens.detach().expand({batch, -1, -1}).clone();
  }
  // A copy: the buffer is written below, and the backward pass needs what was read.
  return tokens.detach().clone();
}

void GatedRecurrentCache::store(const ops::GrcUpdated& next, const AttentionArgs& args) {
  const bool carried = args.causal && options_.gradient == CacheGradient::carry && is_training();
  const bool batch_row = options_.scope == CacheScope::batch_row;
  if (!batch_row && next.samples.size(0) == 0 && !reducer()) return;  // no sample has a mean
  const torch::Tensor& successor = batch_row ? next.samples : next.mean;
  if (held_by_session(args)) args.state->set("cache", carried ? successor : successor.detach());
  if (batch_row || !is_training()) return;
  at::NoGradGuard no_grad;
  tokens.copy_(next.mean);
}

torch::Tensor GatedRecurrentCache::causal_step(const torch::Tensor& previous, const torch::Tensor& x,
                                               const AttentionArgs& args) {
  torch::Tensor attended = previous;
  const bool recompute = options_.gradient == CacheGradient::recompute && is_training();
  if (recompute) {
    AttentionState& held = batch_rows(args, "gradient = recompute");
    if (const torch::Tensor last = held.get("last_tokens"); last.defined()) {
      const auto [samples, mean] = update(held.get("last_cache"), last);
      attended = options_.scope == CacheScope::batch_mean ? mean : samples;
    }
    held.set("last_tokens", x.detach());
    held.set("last_cache", previous.detach());
  }
  if (updates()) {
    at::AutoGradMode with_graph(options_.gradient == CacheGradient::carry && at::GradMode::is_enabled());
    store(update(previous, x), args);
  }
  return attended;
}

Memory GatedRecurrentCache::step(const torch::Tensor& input, const torch::Tensor& self_output,
                                 const AttentionArgs& args) {
  const torch::Tensor previous = stored(args, input.size(0));
  if (!updates() && (args.causal || options_.inference_or_default() == CacheInference::frozen))
    return {previous, memory_layout_};
  const bool from_input = options_.variant == GatedRecurrentCacheVariant::paper;
  const torch::Tensor x = compress(from_input ? input : self_output, args.query);
  if (args.causal) return {causal_step(previous, x, args), memory_layout_};

  const ops::GrcUpdated next = update(previous, x);
  if (updates()) store(next, args);
  // Batch rows are streams of their own, and so are the samples of an evaluation.
  const bool together = is_training() && options_.scope == CacheScope::batch_mean;
  return {together && options_.attend == CacheAttend::mean ? next.mean : next.samples, memory_layout_};
}

}  // namespace cachet::nn
