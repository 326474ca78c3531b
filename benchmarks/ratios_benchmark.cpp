// What Cachet's operators and cached layer cost compared with their arithmetic and with ATen's neighbours, as ratios of
// calls taken in turns. Prints CSV: ratios layer|operators [--quick]; and alone, for programs that take turns with it,
// the milliseconds of a cached layer in its published form: ratios published training|inference fp32|bf16
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <iostream>
#include <string_view>

#include "benchmarks/added_products.h"
#include "benchmarks/backward_step.h"
#include "benchmarks/csv_rows.h"
#include "benchmarks/pairs.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/norm/unified_norm.h"
#include "cachet/ops/support/fused.h"
#include "cachet/train/machine/process_setup.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;

constexpr int kThreads = 2;
int turns = 31;

const char* name_of(at::ScalarType type) { return type == at::kBFloat16 ? "bf16" : "fp32"; }

// --- what a cache costs a layer --------------------------------------------------------------------------------------

constexpr int64_t kBatch = 8, kTokens = 197, kDim = 384, kHeads = 6, kWidth = 192;

struct LayerCase {
  std::string name;
  bool training;
  nn::GatedRecurrentCacheOptions cache;
  CacheRead read;
};

/// A pass of an attention layer of ViT-S, with a backward one in training. Training has float32 weights under autocast,
/// inference weights stored in `type`.
Call layer_pass(const nn::CacheOptions& cache, bool training, at::ScalarType type) {
  const nn::TokenLayout tokens{nn::Grid{14, 14}, 1, {}};
  const auto layer = nn::make_self_attention({kDim, kHeads, kTokens, tokens, cache});
  layer->train(training);
  if (!training) layer->to(type);
  const Tensor x = at::randn({kBatch, kTokens, kDim}).to(training ? at::kFloat : type).requires_grad_(training);
  return [layer, x, training, type, layout = nn::AttentionArgs::self(tokens)] {
    if (!training) {
      const at::NoGradGuard no_grad;
      layer->forward(x, x, layout);
      return;
    }
    Tensor y;
    {
      const bool narrow = type == at::kBFloat16;
      const train::PrecisionScope precision(narrow ? train::Precision::bfloat16 : train::Precision::float32, c10::kCPU);
      y = layer->forward(x, x, layout);
    }
    Tensors inputs = layer->parameters();
    inputs.push_back(x);
    step({y}, inputs);
  };
}

void layer_row(const LayerCase& c, at::ScalarType type) {
  const AddedProducts added({kBatch, kTokens, kTokens, kWidth, kHeads}, type, c.training, c.read);
  const auto products = [&] {
    if (c.training) return step(added.forward(), added.operands());
    const at::NoGradGuard no_grad;
    added.forward();
  };
  const auto times = in_turns(
      {layer_pass(nn::NoCacheOptions{}, c.training, type), layer_pass(c.cache, c.training, type), products}, turns);
  std::vector<double> ratios;
  for (int i = 0; i < turns; ++i) ratios.push_back((times[1][i] - times[0][i]) / times[2][i]);
  const auto ratio = analysis::quartiles(ratios);
  print_row({c.name, c.training ? "training" : "inference", name_of(type), std::to_string(kThreads), median(times[0]),
             median(times[1]), median(times[2])},
            &ratio);
}

/// The milliseconds of the published form, and nothing else.
void published_layer(bool training, at::ScalarType type) {
  const auto pass =
      layer_pass(nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official), training, type);
  std::cout << median(in_turns({pass}, turns)[0]) << '\n';
}

/// One attention layer of ViT-S: (cached − plain) ÷ the products and the attention that the cache adds, computed alone.
void layer_table() {
  print_row({"layer", "mode", "type", "threads", "plain_ms", "cached_ms", "products_ms", "ratio", "lower", "upper"});
  nn::GatedRecurrentCacheOptions paper, per_sample;
  per_sample.attend = nn::CacheAttend::per_sample;
  per_sample.inference = nn::CacheInference::per_sample;
  const auto official = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::official);
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    layer_row({"paper", false, paper, CacheRead::stored}, type);
    layer_row({"per sample", false, per_sample, CacheRead::per_sample}, type);
    layer_row({"published form", false, official, CacheRead::per_sample}, type);
    layer_row({"paper", true, paper, CacheRead::mean}, type);
    layer_row({"per sample", true, per_sample, CacheRead::per_sample}, type);
    layer_row({"published form", true, official, CacheRead::per_sample}, type);
  }
}

// --- operators compared with their neighbours ---------------------------------------------------------------

struct Pair {
  std::string ours, other, what;
};

void pair_row(const Pair& pair, at::ScalarType type, const Call& ours, const Call& other, int count) {
  const auto times = in_turns({ours, other}, count);
  const auto ratio = analysis::ratio_of_pairs(times[0], times[1]);
  print_row(
      {pair.ours, pair.other, pair.what, name_of(type), std::to_string(kThreads), median(times[0]), median(times[1])},
      &ratio);
}

void norm_rows(at::ScalarType type) {
  const char* what = "training step, 32 × 197 × 384";
  const Tensor x = at::randn({32, kTokens, kDim}).to(type).requires_grad_();
  const Tensor weight = at::ones({kDim}).requires_grad_(), bias = at::zeros({kDim}).requires_grad_();
  const Tensor narrow_weight = weight.detach().to(type).requires_grad_(),
               narrow_bias = bias.detach().to(type).requires_grad_();
  ops::UnifiedNormSettings settings;
  settings.warmup = 0;
  const auto state = ops::initial_unified_norm_state(kDim, settings);
  const auto ours = [&] { step({ops::unified_norm(x, weight, bias, {}, state, settings).output}, {x, weight, bias}); };
  pair_row(
      {"unified_norm", "at::layer_norm", what}, type, ours,
      [&] {
        step({at::layer_norm(x, {kDim}, narrow_weight, narrow_bias)}, {x, narrow_weight, narrow_bias});
      },
      turns);
  pair_row(
      {"unified_norm", "its composition", what}, type, ours,
      [&] {
        const ops::CompositeOnly composite;
        ours();
      },
      turns);
}

struct KernelOperands {
  KernelOperands(int64_t length, at::ScalarType type, int64_t batch = 8, int64_t heads = 4) {
    const auto part = [&] {
      return at::randn({batch, length, heads, 64}).to(type).transpose(1, 2).detach().requires_grad_();
    };
    q = part(), k = part(), v = part();
    map.units = {ops::FeatureUnit::glu, ops::FeatureUnit::softplus_glu};
    for (int i = 0; i < 2; ++i) map.weights.push_back((at::randn({heads, 64, 128}) * 0.1).to(type).requires_grad_());
  }
  void attend(bool causal) const {
    step({ops::kernel_attention(q, k, v, map, {}, causal)}, {q, k, v, map.weights[0], map.weights[1]});
  }
  void flash(bool causal = false) const {
    step({at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal)}, {q, k, v});
  }
  Tensor q, k, v;
  ops::FeatureMap map;
};

void kernel_rows(at::ScalarType type, bool quick) {
  for (const int64_t length : {1024, 8192}) {
    const KernelOperands operands(length, type);
    const int count = length > 1024 ? (quick ? 1 : 3) : turns;
    pair_row(
        {"2×GLU kernel attention", "flash attention", "forward + backward, " + std::to_string(length) + " tokens"},
        type, [&] { operands.attend(false); }, [&] { operands.flash(); }, count);
  }
  const KernelOperands operands(1024, type);
  pair_row(
      {"2×GLU causal", "bidirectional", "1024 tokens"}, type, [&] { operands.attend(true); },
      [&] { operands.attend(false); }, turns);
  pair_row(
      {"2×GLU causal", "its chunked composition", "1024 tokens"}, type, [&] { operands.attend(true); },
      [&] {
        const ops::CompositeOnly composite;
        operands.attend(true);
      },
      turns);
}

/// Ours ÷ the other, below 1 is faster. Kernel attention: batch 8, 4 heads of 64.
void operator_table(bool quick) {
  print_row({"operator", "other", "case", "type", "threads", "ours_ms", "other_ms", "ratio", "lower", "upper"});
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    norm_rows(type);
    kernel_rows(type, quick);
  }
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** arguments) {
  using namespace cachet::benchmarks;
  const std::string_view what = count > 1 ? arguments[1] : "";
  const std::string_view mode = count > 2 ? arguments[2] : "", type = count > 3 ? arguments[3] : "";
  const bool quick = mode == "--quick";
  const bool is_published = what == "published" && (mode == "training" || mode == "inference") &&
                            (type == "fp32" || type == "bf16") && count == 4;
  const bool is_table = (what == "layer" || what == "operators") && (count == 2 || (quick && count == 3));
  if (!is_published && !is_table) {
    std::cerr << "usage: ratios_benchmark layer|operators [--quick]\n"
                 "       ratios_benchmark published training|inference fp32|bf16\n";
    return 2;
  }
  at::set_num_threads(kThreads);
  if (is_published) {
    turns = 11;
    published_layer(mode == "training", type == "bf16" ? at::kBFloat16 : at::kFloat);
    return 0;
  }
  if (quick) turns = 5;
  what == "layer" ? layer_table() : operator_table(quick);
}
