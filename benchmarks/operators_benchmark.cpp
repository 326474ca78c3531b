// Google Benchmark over the operators: fused, unfused, and ATen's neighbour, forward and backward, over batch,
// tokens, width and threads. operators --benchmark_filter=unified_norm
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <map>
#include <optional>

#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/cache/grc_update.h"
#include "cachet/ops/cache/mix_heads.h"
#include "cachet/ops/detection/nms.h"
#include "cachet/ops/detection/roi_align.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/norm/unified_norm.h"
#include "cachet/ops/support/fused.h"
#include "cachet/ops/tokens/token_convolution.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;
using Tensors = std::vector<Tensor>;

struct Size {
  int64_t batch, tokens, width;
};

/// An operator on operands of a size: makes them once, then runs on them.
struct Operator {
  Tensors (*operands)(const Size&, at::ScalarType);
  Tensor (*run)(const Tensors&, const Size&);
};

Tensor leaf(at::IntArrayRef sizes, at::ScalarType type) { return (at::randn(sizes) * 0.3).to(type).requires_grad_(); }

Tensors tokens_and_affine(const Size& s, at::ScalarType type) {
  return {leaf({s.batch, s.tokens, s.width}, type), leaf({s.width}, at::kFloat), leaf({s.width}, at::kFloat)};
}

Tensor unified_norm(const Tensors& in, const Size& s) {
  ops::UnifiedNormSettings settings;
  settings.warmup = 0;
  static thread_local std::map<int64_t, ops::UnifiedNormState> states;
  auto [state, fresh] = states.try_emplace(s.width);
  if (fresh) state->second = ops::initial_unified_norm_state(s.width, settings);
  return ops::unified_norm(in[0], in[1], in[2], {}, state->second, settings).output;
}

Tensor layer_norm(const Tensors& in, const Size& s) {
  const auto type = in[0].scalar_type();
  return at::layer_norm(in[0], {s.width}, in[1].to(type), in[2].to(type));
}

Tensors mixed_heads(const Size& s, at::ScalarType type) {
  const int64_t heads = s.width / 64;
  return {leaf({s.batch, s.tokens, heads, 64}, type), leaf({s.batch, s.tokens, heads, 32}, type),
          leaf({heads}, at::kFloat)};
}
Tensor mix_heads(const Tensors& in, const Size&) { return ops::mix_heads(in[0], in[1], in[2]); }
// What mixing would cost if nothing were to be padded or narrowed.
Tensor lerp(const Tensors& in, const Size&) { return at::lerp(in[0], in[0], 0.5); }

Tensors gates(const Size& s, at::ScalarType type) {
  const int64_t w = s.width / 2;
  Tensors in{at::randn({1, s.tokens, w}), leaf({s.batch, s.tokens, w}, type)};
  for (int i = 0; i < 3; ++i) in.push_back(leaf({w, 2 * w}, type));
  for (int i = 0; i < 5; ++i) in.push_back(leaf({w}, at::kFloat));
  return in;
}
Tensor grc_update(const Tensors& in, const Size&) {
  return ops::grc_update(in[0], in[1], {in[2], in[5]}, {in[3], in[6]}, {in[4], in[7]}, ops::CandidateNorm{in[8], in[9]})
      .samples;
}
// The step's products over the concatenation, as the published code has them.
Tensor gate_products(const Tensors& in, const Size&) {
  const Tensor joined = at::cat({in[0].to(in[1].scalar_type()).expand_as(in[1]), in[1]}, 2);
  return at::linear(joined, in[2]) + at::linear(joined, in[3]) + at::linear(joined, in[4]);
}

int64_t side(int64_t tokens) { return static_cast<int64_t>(std::sqrt(static_cast<double>(tokens))); }
Tensors grid(const Size& s, at::ScalarType type) {
  return {leaf({s.batch, side(s.tokens) * side(s.tokens), s.width}, type), leaf({s.width, 2, 3, 3}, type)};
}
Tensor token_convolution(const Tensors& in, const Size& s) {
  return ops::token_convolution(in[0], in[1], {}, {side(s.tokens), side(s.tokens), 0});
}
Tensor grouped_convolution(const Tensors& in, const Size& s) {
  const Tensor image = in[0].transpose(1, 2).reshape({s.batch, s.width, side(s.tokens), side(s.tokens)});
  return at::conv2d(image, in[1], {}, 1, 1, 1, s.width / 2).flatten(2).transpose(1, 2).contiguous();
}

Tensors feed_forward(const Size& s, at::ScalarType type) {
  return {leaf({s.batch, s.tokens, s.width}, type), leaf({4 * s.width, s.width}, type), leaf({4 * s.width}, type)};
}
Tensor linear_gelu(const Tensors& in, const Size&) { return ops::linear_gelu(in[0], in[1], in[2]); }
Tensor linear_then_gelu(const Tensors& in, const Size&) { return at::gelu(at::linear(in[0], in[1], in[2])); }

template <int layers>
Tensors heads_and_map(const Size& s, at::ScalarType type) {
  const int64_t heads = s.width / 64;
  Tensors in;
  for (int i = 0; i < 3; ++i)
    in.push_back(leaf({s.batch, s.tokens, heads, 64}, type).transpose(1, 2).detach().requires_grad_());
  for (int i = 0; i < layers; ++i) in.push_back(leaf({heads, 64, 128}, type));
  return in;
}
template <bool causal>
Tensor kernel_attention(const Tensors& in, const Size&) {
  return ops::kernel_attention(
      in[0], in[1], in[2], {{in[3], in[4]}, {ops::FeatureUnit::glu, ops::FeatureUnit::softplus_glu}}, {}, causal, 1e-6);
}
template <bool causal>
Tensor flash_attention(const Tensors& in, const Size&) {
  return at::scaled_dot_product_attention(in[0], in[1], in[2], {}, 0.0, causal);
}

// 512 boxes of an image's objects, of 7 to 28 cells a side, on the images in turn.
Tensors map_and_boxes(const Size& s, at::ScalarType type) {
  const auto cells = static_cast<double>(side(s.tokens));
  const Tensor image = at::arange(512).remainder(s.batch).to(at::kFloat).unsqueeze(1);
  const Tensor length = (7 + 21 * at::rand({512, 2})).clamp_max(cells), corner = at::rand({512, 2}) * (cells - length);
  const Tensor map = leaf({s.batch, side(s.tokens), side(s.tokens), s.width}, type).permute({0, 3, 1, 2});
  return {map.detach().requires_grad_(), at::cat({image, corner, corner + length}, 1)};
}
Tensor roi_align(const Tensors& in, const Size&) { return ops::roi_align(in[0], in[1], {7, 7, 1.0, 0}); }
// Four samples to a bin, each anywhere.
Tensor grid_sampler(const Tensors& in, const Size& s) {
  const Tensor grid = at::rand({s.batch, 512 / s.batch * 14, 14, 2}).mul_(2).sub_(1).to(in[0].scalar_type());
  return at::avg_pool2d(at::grid_sampler(in[0], grid, 0, 0, false), 2);
}

// As many boxes as tokens, in ten groups, a few dozen of them near each.
Tensors boxes_and_scores(const Size& s, at::ScalarType) {
  const Tensor corner = at::rand({s.tokens, 2}) * 600;
  return {at::cat({corner, corner + 20 + at::rand({s.tokens, 2}) * 100}, 1), at::rand({s.tokens}),
          at::randint(10, {s.tokens}, at::kLong)};
}
Tensor nms(const Tensors& in, const Size&) { return ops::nms_indices(in[0], in[1], in[2], 0.5); }
Tensor sort_scores(const Tensors& in, const Size&) {
  return in[0].index_select(0, std::get<1>(at::sort(in[1], 0, true)));
}

enum class Form { fused, composite };

void run(benchmark::State& state, const Operator& op, Form form, at::ScalarType type, bool backward) {
  const Size size{state.range(0), state.range(1), state.range(2)};
  at::set_num_threads(static_cast<int>(state.range(3)));
  std::optional<ops::CompositeOnly> composite;
  if (form == Form::composite) composite.emplace();
  const Tensors in = op.operands(size, type);
  Tensors wanted;
  for (const Tensor& operand : in)
    if (operand.requires_grad()) wanted.push_back(operand);
  for ([[maybe_unused]] auto iteration : state) {
    if (backward) {
      const Tensor y = op.run(in, size);
      torch::autograd::grad({y}, wanted, {y.detach()}, {}, false, true);
    } else {
      const at::NoGradGuard no_grad;
      benchmark::DoNotOptimize(op.run(in, size));
    }
  }
  state.SetItemsProcessed(state.iterations() * size.batch * size.tokens);
}

void sizes(benchmark::internal::Benchmark* b, bool quadratic) {
  b->ArgNames({"batch", "tokens", "width", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime()->MinTime(0.2);
  for (const int64_t threads : {1, 2}) {
    for (const int64_t batch : {1, 8, 64}) b->Args({batch, 196, 384, threads});
    for (const int64_t width : {192, 768}) b->Args({8, 196, width, threads});
    for (const int64_t tokens : {64, 1024, 4096, 16384})
      if (!quadratic || tokens <= 4096) b->Args({1, tokens, 384, threads});
  }
}

void add(const std::string& name, const Operator& ours, const std::string& neighbour, const Operator& other,
         bool quadratic = false, bool differentiable = true) {
  for (const auto type : {at::kFloat, at::kBFloat16})
    for (const bool backward : {false, true}) {
      if (backward && !differentiable) continue;
      const std::string suffix =
          std::string(type == at::kFloat ? "/fp32" : "/bf16") + (backward ? "/step" : "/forward");
      const auto one = [&](const std::string& which, const Operator& op, Form form, bool all_pairs) {
        sizes(benchmark::RegisterBenchmark((name + '/' + which + suffix).c_str(),
                                           [=](benchmark::State& s) { run(s, op, form, type, backward); }),
              all_pairs);
      };
      one("fused", ours, Form::fused, false);
      one("composite", ours, Form::composite, false);
      one(neighbour, other, Form::fused, quadratic);
    }
}

void add_all() {
  add("unified_norm", {tokens_and_affine, unified_norm}, "layer_norm", {tokens_and_affine, layer_norm});
  add("mix_heads", {mixed_heads, mix_heads}, "lerp", {mixed_heads, lerp});
  add("grc_update", {gates, grc_update}, "products", {gates, gate_products});
  add("token_convolution", {grid, token_convolution}, "conv2d", {grid, grouped_convolution});
  add("linear_gelu", {feed_forward, linear_gelu}, "linear_then_gelu", {feed_forward, linear_then_gelu});
  add("kernel_attention", {heads_and_map<2>, kernel_attention<false>}, "flash",
      {heads_and_map<0>, flash_attention<false>}, true);
  add("kernel_attention_causal", {heads_and_map<2>, kernel_attention<true>}, "flash",
      {heads_and_map<0>, flash_attention<true>}, true);
  add("roi_align", {map_and_boxes, roi_align}, "grid_sampler", {map_and_boxes, grid_sampler});
  add("nms", {boxes_and_scores, nms}, "sort", {boxes_and_scores, sort_scores}, false, /*differentiable=*/false);
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** arguments) {
  cachet::benchmarks::add_all();
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
