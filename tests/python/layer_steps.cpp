// Trains layers of cachet::nn for a few steps with seeded weights and inputs, and writes all that they compute to a
// file.
//   layer_steps FILE.safetensors
// For a case NAME the file has NAME/start.* (weights and state before the first step), for each step i NAME/stepI.x,
// .dy, .y, .dx, .grad.*, .state.* and .stream.*, and NAME/eval.x and .y of the packed layer; a layer that decodes has
// NAME/pieceI.x and .y instead. cachet_steps_test.py makes the same layers in Python.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/attention/spatial_reduction_attention.h"
#include "cachet/nn/attention/window_attention.h"
#include "cachet/nn/layers/linear.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace {

using cachet::nn::Attention;
using cachet::nn::AttentionArgs;
using cachet::nn::AttentionState;
using cachet::nn::Branch;
using cachet::nn::CacheGradient;
using cachet::nn::CacheOptions;
using cachet::nn::CacheScope;
using cachet::nn::ConcatenatedCacheOptions;
using cachet::nn::FifoCacheOptions;
using cachet::nn::GatedRecurrentCacheOptions;
using cachet::nn::GatedRecurrentCacheVariant;
using cachet::nn::Grid;
using cachet::nn::KernelForm;
using cachet::nn::KernelOptions;
using cachet::nn::MultiHeadOptions;
using cachet::nn::Projection;
using cachet::nn::SessionUse;
using cachet::nn::TokenLayout;

constexpr int64_t kSteps = 4;
constexpr double kRate = 0.001;

cachet::io::TensorMap written;

void write(const std::string& name, const at::Tensor& tensor) { written[name] = tensor.detach().contiguous().clone(); }

void write_all(const std::string& prefix, torch::nn::Module& layer) {
  for (const auto& each : layer.named_parameters()) write(prefix + each.key(), each.value());
  for (const auto& each : layer.named_buffers()) write(prefix + each.key(), each.value());
}

// Weights that are far from the small ones with which layers start.
void draw(torch::nn::Module& layer) {
  const at::NoGradGuard no_grad;
  for (at::Tensor& weight : layer.parameters()) weight.add_(at::randn(weight.sizes()), 0.3);
}

using Forward = std::function<at::Tensor(const at::Tensor& x)>;

// One step of gradient descent, after what it computed is written.
void descend(const std::string& prefix, torch::nn::Module& layer, const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor dy = at::randn(y.sizes());
  (y * dy).sum().backward();
  write(prefix + "x", x);
  write(prefix + "dy", dy);
  write(prefix + "y", y);
  write(prefix + "dx", x.grad());
  for (const auto& each : layer.named_parameters())
    if (each.value().grad().defined()) write(prefix + "grad." + each.key(), each.value().grad());
  for (const auto& each : layer.named_buffers()) write(prefix + "state." + each.key(), each.value());
  const at::NoGradGuard no_grad;
  for (at::Tensor& weight : layer.parameters())
    if (weight.grad().defined()) weight.add_(weight.grad(), -kRate);
}

void train(const std::string& name, torch::nn::Module& layer, at::IntArrayRef sizes, const Forward& forward,
           const std::function<void(const std::string& prefix)>& after = {}) {
  draw(layer);
  write_all(name + "/start.", layer);
  for (int64_t step = 0; step < kSteps; ++step) {
    const std::string prefix = name + "/step" + std::to_string(step) + ".";
    layer.zero_grad();
    const at::Tensor x = at::randn(sizes).requires_grad_();
    descend(prefix, layer, x, forward(x));
    if (after) after(prefix);
  }
}

void evaluate(const std::string& name, torch::nn::Module& layer, at::IntArrayRef sizes, const Forward& forward) {
  layer.eval();
  cachet::nn::pack_linear_layers(layer);
  const at::NoGradGuard no_grad;
  const at::Tensor x = at::randn(sizes);
  write(name + "/eval.x", x);
  write(name + "/eval.y", forward(x));
}

void run(const std::string& name, torch::nn::Module& layer, at::IntArrayRef sizes, const Forward& forward) {
  train(name, layer, sizes, forward);
  evaluate(name, layer, sizes, forward);
}

// The last i % 3 tokens of sample i.
at::Tensor padding_of(int64_t batch, int64_t length) {
  const at::Tensor cut = at::arange(batch).remainder(3).unsqueeze(1);
  return at::arange(length).unsqueeze(0).ge(length - cut);
}

struct Case {
  int64_t batch = 2, length = 5, dim = 16;
  std::optional<Grid> grid{};
  int64_t class_tokens = 0;
  bool padded = false, causal = false;

  AttentionArgs args() const {
    TokenLayout tokens{grid, class_tokens, padded ? padding_of(batch, length) : at::Tensor()};
    AttentionArgs all = AttentionArgs::self(tokens);
    all.causal = causal;
    return all;
  }
};

void attend(const std::string& name, const std::shared_ptr<Attention>& layer, const Case& c) {
  run(name, *layer, {c.batch, c.length, c.dim}, [&](const at::Tensor& x) { return layer->forward(x, x, c.args()); });
}

// Texts in two pieces a step, whose state is cut from its graph after each step.
void read_pieces(const std::string& name, const std::shared_ptr<Attention>& layer, const Case& c) {
  const auto state = layer->make_state(c.batch, SessionUse::segments);
  const auto forward = [&](const at::Tensor& x) {
    std::vector<at::Tensor> pieces;
    for (const at::Tensor& piece : x.chunk(2, 1)) {
      AttentionArgs args;
      args.causal = c.causal;
      args.state = state.get();
      pieces.push_back(layer->forward(piece, piece, args));
    }
    return at::cat(pieces, 1);
  };
  train(name, *layer, {c.batch, c.length, c.dim}, forward, [&](const std::string& prefix) {
    state->detach();
    if (const at::Tensor held = state->part("cache").get("cache"); held.defined())
      write(prefix + "stream.cache/cache", held);
  });
}

// Texts token by token, and a longer piece: earlier keys stay visible.
void decode(const std::string& name, const std::shared_ptr<Attention>& layer, const Case& c) {
  draw(*layer);
  write_all(name + "/start.", *layer);
  layer->eval();
  const at::NoGradGuard no_grad;
  const auto state = layer->make_state(c.batch, SessionUse::decoding);
  int64_t piece = 0;
  for (const int64_t length : {3, 1, 1, 70}) {
    const std::string prefix = name + "/piece" + std::to_string(piece++) + ".";
    const at::Tensor x = at::randn({c.batch, length, c.dim});
    AttentionArgs args;
    args.causal = true;
    args.state = state.get();
    write(prefix + "x", x);
    write(prefix + "y", layer->forward(x, x, args));
  }
}

MultiHeadOptions heads(int64_t dim, int64_t count, cachet::nn::AttentionFunctionOptions function = {}) {
  MultiHeadOptions options{dim, count};
  options.attention.function = std::move(function);
  return options;
}

std::shared_ptr<Attention> self_attention(const Case& c, int64_t count,
                                          cachet::nn::AttentionFunctionOptions function = {}) {
  return std::make_shared<cachet::nn::MultiHeadAttention>(heads(c.dim, count, std::move(function)));
}

void softmax_attention() {
  for (const int64_t length : {1, 5, 63, 64, 65, 130})
    attend("softmax_" + std::to_string(length), self_attention({}, 2), {.length = length});
  for (const int64_t length : {1024, 1025})
    for (const bool causal : {false, true})
      attend("softmax_" + std::string(causal ? "causal_" : "") + std::to_string(length), self_attention({.dim = 8}, 1),
             {.batch = 1, .length = length, .dim = 8, .causal = causal});
  for (const int64_t length : {5, 65}) {
    const std::string end = "_" + std::to_string(length);
    attend("softmax_causal" + end, self_attention({}, 2), {.length = length, .causal = true});
    attend("softmax_padded" + end, self_attention({}, 2), {.batch = 3, .length = length, .padded = true});
    attend("softmax_causal_padded" + end, self_attention({}, 2),
           {.batch = 3, .length = length, .padded = true, .causal = true});
  }
  attend("softmax_wide", self_attention({.dim = 192}, 3), {.batch = 16, .length = 50, .dim = 192});
  // Blocks serve at most four keys a query.
  for (const int64_t keys : {8, 9})
    for (const int64_t contexts : {1, 3}) {
      MultiHeadOptions options = heads(16, 2);
      options.projection = Projection::separate;
      const auto layer = std::make_shared<cachet::nn::MultiHeadAttention>(options);
      const std::string name = "softmax_" + std::to_string(keys) + "_of_" + std::to_string(contexts);
      const at::Tensor context = at::randn({contexts, keys, 16});
      write(name + "/context", context);
      run(name, *layer, {3, 2, 16}, [&](const at::Tensor& x) { return layer->forward(x, context, {}); });
    }
  decode("softmax_decoding", self_attention({}, 2), {});
}

void windows() {
  const auto in_windows = [](const Case& c, const Grid& window, const Grid& shift, CacheOptions cache = {},
                             bool pad_first = false) {
    cachet::nn::WindowAttentionOptions options{.dim = c.dim, .num_heads = 2, .cache = std::move(cache)};
    options.windows.window = window;
    options.windows.shift = shift;
    if (pad_first) options.windows.order = cachet::nn::WindowOrder::pad_then_shift;
    return make_window_attention(options);
  };
  const auto on_grid = [](int64_t height, int64_t width, int64_t batch = 2, int64_t dim = 16) {
    return Case{.batch = batch, .length = height * width, .dim = dim, .grid = Grid{height, width}};
  };
  attend("windows", in_windows({}, {4, 4}, {0, 0}), on_grid(8, 8));
  attend("windows_shifted", in_windows({}, {4, 4}, {2, 2}), on_grid(8, 8));
  attend("windows_beyond", in_windows({}, {4, 3}, {2, 1}), on_grid(7, 5));
  attend("windows_padded_first", in_windows({}, {4, 3}, {2, 1}, {}, true), on_grid(7, 5));
  // Two products serve at most 512 keys with a bias.
  attend("windows_484", in_windows({.dim = 4}, {22, 22}, {0, 0}), on_grid(22, 22, 1, 4));
  attend("windows_529", in_windows({.dim = 4}, {23, 23}, {0, 0}), on_grid(23, 23, 1, 4));
  attend("windows_many", in_windows({.dim = 32}, {7, 7}, {3, 3}), on_grid(14, 14, 8, 32));
  attend("windows_concatenated", in_windows({}, {4, 4}, {2, 2}, ConcatenatedCacheOptions{}), on_grid(8, 8));
  attend("windows_cached", in_windows({}, {4, 4}, {2, 2}, GatedRecurrentCacheOptions{}), on_grid(8, 8));
  attend("windows_fifo", in_windows({}, {4, 3}, {0, 0}, FifoCacheOptions{}), on_grid(7, 5));
}

std::shared_ptr<Attention> with_cache(const Case& c, const CacheOptions& cache, int64_t tokens = 0) {
  return make_self_attention({c.dim, 2, tokens > 0 ? tokens : c.length, TokenLayout{c.grid, c.class_tokens, {}}, cache},
                             cachet::nn::AttentionOptions{});
}

GatedRecurrentCacheOptions gated(std::optional<int64_t> length) {
  GatedRecurrentCacheOptions options;
  options.length = length;
  return options;
}

void caches() {
  using Variant = GatedRecurrentCacheVariant;
  for (const int64_t length : {5, 9}) {
    const Case plain{.batch = 3, .length = 9}, padded{.batch = 3, .length = 9, .padded = true};
    const std::string end = "_" + std::to_string(length);
    attend("grc" + end, with_cache(plain, gated(length)), plain);
    attend("grc_padded" + end, with_cache(padded, gated(length)), padded);
    attend("fifo_padded" + end, with_cache(padded, FifoCacheOptions{.length = length}), padded);
  }
  const Case one{.batch = 1, .length = 9}, wide{.batch = 16, .length = 50, .dim = 192};
  attend("grc_of_one", with_cache(one, gated(5)), one);
  attend("grc_wide", with_cache(wide, gated(49)), wide);
  attend("fifo", with_cache(one, FifoCacheOptions{.length = 5}), one);
  const Case grid{.batch = 2, .length = 13, .grid = Grid{3, 4}, .class_tokens = 1};
  auto official = GatedRecurrentCacheOptions::of(Variant::official);
  attend("grc_official", with_cache(grid, official), grid);
  official.ratio = 1.0 / 3;  // groups of three channels have no fused convolution
  const Case thirds{.batch = 2, .length = 13, .dim = 24, .grid = Grid{3, 4}, .class_tokens = 1};
  attend("grc_thirds", with_cache(thirds, official), thirds);
  auto options = gated({});
  options.pool = 2;
  attend("grc_pooled", with_cache(grid, options), grid);
  options = gated(5);
  options.gates = cachet::nn::CacheGates::half;
  options.attend = cachet::nn::CacheAttend::per_sample;
  options.inference = cachet::nn::CacheInference::per_sample;
  options.ratio = 1;
  attend("grc_half", with_cache(one, options), one);
  attend("concatenated", with_cache(grid, ConcatenatedCacheOptions{}), grid);
  const Case padded{.batch = 3, .length = 9, .padded = true};
  attend("concatenated_padded", with_cache(padded, ConcatenatedCacheOptions{}), padded);
}

void causal_caches() {
  const Case text{.batch = 3, .length = 10, .causal = true};
  for (const auto& [word, gradient] : {std::pair{"detached", CacheGradient::detached},
                                       {"recompute", CacheGradient::recompute},
                                       {"carry", CacheGradient::carry}})
    for (const bool by_row : {false, true}) {
      GatedRecurrentCacheOptions options = gated(4);
      options.gradient = gradient;
      if (by_row) {
        options.scope = CacheScope::batch_row;
        options.attend = cachet::nn::CacheAttend::per_sample;
      }
      read_pieces("grc_" + std::string(word) + (by_row ? "_by_row" : ""), with_cache(text, options), text);
    }
  read_pieces("fifo_by_row", with_cache(text, FifoCacheOptions{.length = 4, .scope = CacheScope::batch_row}), text);
}

void spatial_reduction() {
  using cachet::nn::ReductionForm;
  const auto reduced = [](int64_t dim, int64_t ratio, ReductionForm form) {
    MultiHeadOptions options = heads(dim, 2);
    options.projection = Projection::separate;
    return std::make_shared<cachet::nn::SpatialReductionAttention>(options,
                                                                   cachet::nn::SpatialReductionOptions{form, ratio});
  };
  const Case grid{.batch = 2, .length = 36, .grid = Grid{6, 6}};
  const Case with_class{.batch = 2, .length = 43, .grid = Grid{6, 7}, .class_tokens = 1};
  for (const int64_t ratio : {1, 2, 3})
    attend("reduced_" + std::to_string(ratio), reduced(16, ratio, ReductionForm::convolution), grid);
  attend("reduced_class", reduced(16, 2, ReductionForm::convolution), with_class);
  const Case large{.batch = 2, .length = 81, .grid = Grid{9, 9}};
  attend("pooled", reduced(16, 1, ReductionForm::pooling), large);
  const auto concatenated = reduced(16, 2, ReductionForm::convolution);
  concatenated->concatenate_cache(grid.length, TokenLayout{grid.grid, 0, {}});
  attend("reduced_concatenated", concatenated, grid);
  const auto both = [&](int64_t dim, Branch) { return reduced(dim, 2, ReductionForm::convolution); };
  const auto cached = cachet::nn::make_self_attention({16, 2, 36, TokenLayout{grid.grid, 0, {}}, gated({})}, both);
  attend("reduced_cached", cached, grid);
}

void kernels() {
  const std::pair<const char*, KernelForm> forms[] = {{"linear", KernelForm::linear},
                                                      {"orthogonal_linear", KernelForm::orthogonal_linear},
                                                      {"glu", KernelForm::glu},
                                                      {"oglu", KernelForm::orthogonal_glu},
                                                      {"aoglu", KernelForm::low_rank_glu},
                                                      {"feed_forward", KernelForm::feed_forward}};
  for (const auto& [word, form] : forms) {
    const std::string name(word);
    const bool one_layer = form == KernelForm::linear || form == KernelForm::orthogonal_linear;
    const KernelOptions options{.form = form, .layers = one_layer ? 1 : 2, .head_wise = form != KernelForm::glu};
    attend(name, self_attention({}, 2, options), {.length = 5});
    attend(name + "_padded", self_attention({}, 2, options), {.batch = 3, .length = 9, .padded = true});
    attend(name + "_causal", self_attention({}, 2, options), {.length = 5, .causal = true});
    decode(name + "_decoding", self_attention({}, 2, options), {});
  }
  // Around the blocks of rows.
  for (const int64_t length : {64, 65, 256, 257})
    for (const bool causal : {false, true}) {
      const std::string end = std::string(causal ? "_causal_" : "_") + std::to_string(length);
      attend("glu" + end, self_attention({}, 2, KernelOptions{}), {.length = length, .causal = causal});
      attend("elu" + end, self_attention({}, 2, cachet::nn::EluOptions{}), {.length = length, .causal = causal});
    }
}

void norms() {
  const auto norm = [](const std::string& name, const std::shared_ptr<cachet::nn::Norm>& layer, int64_t batch,
                       int64_t length, bool padded = false) {
    const at::Tensor padding = padded ? padding_of(batch, length) : at::Tensor();
    run(name, *layer, {batch, length, 12}, [&](const at::Tensor& x) { return layer->forward(x, padding); });
  };
  cachet::ops::UnifiedNormSettings settings;
  settings.forward_window = settings.backward_window = 2;
  settings.warmup = 1;
  // Tokens are taken in chunks of 128.
  for (const int64_t length : {5, 64, 65, 150}) {
    const std::string end = "_" + std::to_string(length);
    norm("un" + end, std::make_shared<cachet::nn::UnifiedNorm>(12, settings), 2, length);
    cachet::nn::PowerNormOptions power;
    power.settings.warmup = 2;
    power.group_scaling = length != 65;
    norm("pn" + end, std::make_shared<cachet::nn::PowerNorm>(12, power), 2, length);
    const cachet::nn::MovingAverageBatchNormOptions moving{.window = 2, .warmup = 1};
    norm("mabn" + end, std::make_shared<cachet::nn::UnifiedNorm>(12, unified_norm_settings(moving)), 2, length);
  }
  norm("un_padded", std::make_shared<cachet::nn::UnifiedNorm>(12, settings), 3, 9, true);
  settings.threshold = cachet::ops::OutlierThreshold::channel;
  norm("un_by_channel", std::make_shared<cachet::nn::UnifiedNorm>(12, settings), 2, 5);
  settings.threshold = cachet::ops::OutlierThreshold::pooled;
  settings.official = true;
  norm("un_official", std::make_shared<cachet::nn::UnifiedNorm>(12, settings), 2, 5);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: layer_steps FILE.safetensors\n");
    return 2;
  }
  try {
    at::set_num_threads(1);
    at::manual_seed(0);
    softmax_attention();
    windows();
    caches();
    causal_caches();
    spatial_reduction();
    kernels();
    norms();
    cachet::io::write_safetensors(arguments[1], written);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "layer_steps: %s\n", error.what());
    return 1;
  }
  return 0;
}
