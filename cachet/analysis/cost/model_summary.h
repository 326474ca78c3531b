#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cachet/analysis/cost/products.h"
#include "cachet/models/model_plan.h"

namespace cachet::analysis {

/// What one module adds by itself: the modules inside it have rows of their own.
struct LayerSummary {
  std::string path;  // "blocks.0.attn.qkv"; "" for the model itself
  std::string kind;  // "Linear"
  // The shape of its output, as far as operators show it. For a module that holds others: of what it or one of them
  // computed last; for an attention, with its heads joined; for another module, of what it computed when it was first
  // called, because its weights may serve another layer, too. Empty if it computed nothing.
  std::vector<int64_t> output_shape;
  int64_t parameters = 0;
  Products macs;
};

struct ModelSummary {
  int64_t parameters = 0;  // a parameter that two modules share counts once
  // What trained feature maps of attention add to the blocks, and what the blocks have without them.
  int64_t kernel_parameters = 0, block_parameters = 0;
  Products macs;
  std::vector<LayerSummary> layers;  // in the order of their first use; their numbers add up to those of the model
};

/// Which forward pass is counted. They differ where a module rests in evaluation, as a frozen cache's gates do.
enum class Pass { training, inference };

/// How deep a summary's rows go: the model is 0, "blocks" 1, "blocks.0" 2. What lies deeper is added to the row above.
inline constexpr int64_t kAllDepths = std::numeric_limits<int64_t>::max();

/// Counts what `forward` multiplies, in one call of it; `model` is what its weights belong to, held by a shared_ptr as
/// LibTorch asks of modules that are walked. Works on any device; on the meta device it costs nothing.
///
/// MACs are those of the published modules, so that tables of the papers are met: linear layers and convolutions in one
/// column (W[C, X̄] of a cached layer's gates and candidate counts over 2·Dm inputs for every sample, although the half
/// that meets a shared cache is computed once), products of attention in another; norms, activations and biases count
/// nothing.
ModelSummary summarize(torch::nn::Module& model, const std::function<at::Tensor()>& forward,
                       int64_t depth = kAllDepths);

/// The same for one sample of the model's own size, without the memory or the time of a real forward pass where
/// LibTorch can do without (all models of ours): the model has shapes and no values.
ModelSummary summarize(const models::ModelPlan& plan, Pass pass = Pass::training, int64_t depth = kAllDepths);

/// The same of a model as it is, which is not changed: what it multiplies when it is called, in training or evaluation.
ModelSummary summarize(const models::Model& model, int64_t depth = kAllDepths);

}  // namespace cachet::analysis
