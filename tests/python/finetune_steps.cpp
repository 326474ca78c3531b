// Fine-tunes a ViT with a gated recurrent cache, and writes the loss of each step to a file.
//   finetune_steps START.safetensors LOSSES.safetensors
// START has the weights and the state of the model (model.*, in the type of the computation), the images (steps, B, C,
// H, W) and labels (steps, B), and the sizes that no weight has: "num_heads" and "rate". cachet_finetune_test.py trains
// timm's ViT with the cache of cachet.add_cache on the same batches.
#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/vision/vision_transformer.h"

namespace {

using cachet::io::TensorMap;

constexpr char kWeights[] = "model.";

TensorMap weights_of(const TensorMap& start) {
  TensorMap weights;
  for (const auto& [name, tensor] : start)
    if (name.starts_with(kWeights)) weights[name.substr(sizeof kWeights - 1)] = tensor;
  return weights;
}

// All sizes come from the shapes of the weights.
cachet::models::VisionTransformerOptions options_of(const TensorMap& weights, const TensorMap& start) {
  const at::Tensor patches = weights.at("patch_embed.proj.weight"), cache = weights.at("blocks.0.attn.cache.tokens");
  const at::Tensor images = start.at("images");
  cachet::models::VisionTransformerOptions options;
  options.image.channels = images.size(2);
  options.image.height = images.size(3);
  options.image.width = images.size(4);
  options.patch_size = patches.size(2);
  options.classes = weights.at("head.bias").size(0);
  options.embed_dim = patches.size(0);
  options.num_heads = start.at("num_heads").item<int64_t>();
  options.mlp_ratio = static_cast<double>(weights.at("blocks.0.mlp.fc1.bias").size(0)) / options.embed_dim;
  options.depth = std::ranges::count_if(weights, [](const auto& each) { return each.first.ends_with("mlp.fc1.bias"); });
  cachet::nn::GatedRecurrentCacheOptions grc;
  grc.length = cache.size(-2);
  grc.ratio = static_cast<double>(cache.size(-1)) / options.embed_dim;
  options.plug_ins.cache = grc;
  return options;
}

at::Tensor losses_of(const TensorMap& start) {
  const TensorMap weights = weights_of(start);
  const auto model = std::make_shared<cachet::models::VisionTransformer>(options_of(weights, start));
  const at::ScalarType type = weights.at("head.bias").scalar_type();
  if (type == at::kDouble) model->to(type);
  cachet::io::load_state_dict(*model, weights, {.conversion = cachet::io::LoadPolicy::Conversion::kNone});
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(start.at("rate").item<double>()));
  std::vector<double> losses;
  for (int64_t step = 0; step < start.at("images").size(0); ++step) {
    const at::Tensor loss = at::cross_entropy_loss(model->forward(start.at("images")[step]), start.at("labels")[step]);
    losses.push_back(loss.item<double>());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return at::tensor(losses, at::kDouble);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: finetune_steps START.safetensors LOSSES.safetensors\n");
    return 2;
  }
  try {
    at::set_num_threads(1);
    const TensorMap start = cachet::io::read_safetensors(arguments[1]).tensors;
    cachet::io::write_safetensors(arguments[2], {{"losses", losses_of(start)}});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "finetune_steps: %s\n", error.what());
    return 1;
  }
  return 0;
}
