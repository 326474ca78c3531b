// One training step of a self-attention layer with a memory: a gated recurrent cache, for 49 tokens of 64 channels.
#include <cachet/cachet.h>
#include <torch/optim/adamw.h>

#include <iostream>

int main() {
  using namespace cachet;
  auto layer =
      nn::make_self_attention({.dim = 64, .num_heads = 4, .tokens = 49, .cache = nn::GatedRecurrentCacheOptions{}});
  torch::optim::AdamW optimizer(layer->parameters(), 1e-3);
  const torch::Tensor x = at::randn({8, 49, 64});
  const torch::Tensor y = layer->forward(x, x, {});
  y.square().mean().backward();
  optimizer.step();
  std::cout << "Cachet " << version() << ": output " << y.sizes() << ", cache "
            << layer->named_buffers()["cache.tokens"].sizes() << '\n';
}
