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

/// The numbers of one module, without the modules inside it. Each inner module has a row of its own.
struct LayerSummary {
  std::string path;  // "blocks.0.attn.qkv"; "" for the model itself
  std::string kind;  // "Linear"
  // The shape of the module's output, as far as operators show it. A module with inner modules has the shape of its
  // last output or an inner module's (for attention, with joined heads). Any other module has the shape of its first
  // output, because another layer may also use its weights. Empty if the module computed nothing.
  std::vector<int64_t> output_shape;
  int64_t parameters = 0;
  Products macs;
};

struct ModelSummary {
  int64_t parameters = 0;  // a parameter that two modules share counts once
  // Numbers of parameters of trained feature maps of attention in the blocks, and of other parameters of the blocks.
  int64_t kernel_parameters = 0, block_parameters = 0;
  Products macs;
  std::vector<LayerSummary> layers;  // in the order of first use; the rows' numbers add up to the model's
};

/// The kind of the forward pass. The kinds differ if evaluation skips a module, such as the gates of a frozen cache.
enum class Pass { training, inference };

/// The depth of a summary's rows: the model is 0, "blocks" 1, "blocks.0" 2. Deeper modules are added to the row above.
inline constexpr int64_t kAllDepths = std::numeric_limits<int64_t>::max();

/// Counts the multiplications of one call of `forward`. `model` owns the weights and must be held by a shared_ptr, as
/// LibTorch requires for a walk through modules. Works on any device; on the meta device it costs nothing.
/// MACs are counted as for the published modules, so that they agree with the tables of the papers.
/// One column is for linear layers and convolutions, the other for products of attention. The
/// product W[C, X̄] of a cached layer's gates and candidate counts 2·Dm inputs for every sample,
/// although the half for a shared cache is computed once. Norms, activations and biases are not
/// counted.
ModelSummary summarize(torch::nn::Module& model, const std::function<at::Tensor()>& forward,
                       int64_t depth = kAllDepths);

/// Counts the multiplications for one sample of the plan's input size, on a model with shapes but no values. If
/// LibTorch has all shape functions (as for this library's models), no memory or time of a forward pass is needed.
ModelSummary summarize(const models::ModelPlan& plan, Pass pass = Pass::training, int64_t depth = kAllDepths);

/// Counts the multiplications of an existing model in its current mode, training or evaluation, without changing it.
ModelSummary summarize(const models::Model& model, int64_t depth = kAllDepths);

}  // namespace cachet::analysis
