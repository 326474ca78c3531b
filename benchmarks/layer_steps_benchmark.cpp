// Training steps of single layers, which benchmarks/python_package.py compares with the same layers of the Python
// package:
//   layer_steps_benchmark LAYER IMAGES        LAYER: cached, official, kernel or un
// Prints "ready" and then, for each line of the standard input, the milliseconds of one forward and backward pass over
// (IMAGES, 197, 384), in float32 on two threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "benchmarks/backward_step.h"
#include "benchmarks/pairs.h"
#include "cachet/nn/attention/cached_attention.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::benchmarks {
namespace {

constexpr int kThreads = 2;
constexpr int64_t kTokens = 197, kDim = 384, kHeads = 6;

/// A forward pass of the layer with this name; std::nullopt for another name.
std::optional<std::function<at::Tensor(const at::Tensor& x)>> forward_of(const std::string& name, Tensors& parameters) {
  const nn::TokenLayout tokens{nn::Grid{14, 14}, 1, {}};
  if (name == "un") {
    ops::UnifiedNormSettings settings;
    settings.warmup = 0;
    const auto norm = std::make_shared<nn::UnifiedNorm>(kDim, settings);
    parameters = norm->parameters();
    return [norm](const at::Tensor& x) { return norm->forward(x); };
  }
  std::shared_ptr<nn::Attention> layer;
  if (name == "cached" || name == "official") {
    using Variant = nn::GatedRecurrentCacheVariant;
    const auto cache = nn::GatedRecurrentCacheOptions::of(name == "cached" ? Variant::paper : Variant::official);
    layer = nn::make_self_attention({kDim, kHeads, kTokens, tokens, cache});
  } else if (name == "kernel") {
    nn::MultiHeadOptions options{kDim, kHeads};
    options.attention.function = nn::KernelOptions{.form = nn::KernelForm::glu};
    layer = std::make_shared<nn::MultiHeadAttention>(options);
  } else {
    return std::nullopt;
  }
  parameters = layer->parameters();
  return [layer, args = nn::AttentionArgs::self(tokens)](const at::Tensor& x) { return layer->forward(x, x, args); };
}

int serve(const std::string& name, int64_t images) {
  at::set_num_threads(kThreads);
  Tensors inputs;
  const auto forward = forward_of(name, inputs);
  if (!forward) {
    std::cerr << "there is no layer '" << name << "'; give cached, official, kernel or un\n";
    return 2;
  }
  const at::Tensor x = at::randn({images, kTokens, kDim}).requires_grad_();
  inputs.push_back(x);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << milliseconds_of([&] { step({(*forward)(x)}, inputs); }) << std::endl;
  return 0;
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: layer_steps_benchmark cached|official|kernel|un IMAGES\n";
    return 2;
  }
  return cachet::benchmarks::serve(argv[1], std::stoll(argv[2]));
}
