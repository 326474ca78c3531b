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

/// The numbers of one module, without the modules inside it. Modules inside this module have their own rows in the
/// summary.
struct LayerSummary {
  std::string path;  // "blocks.0.attn.qkv"; "" for the model itself
  std::string kind;  // "Linear"
  // The shape of the module's output, taken from the results of operators. If the module has inner modules,
  // `output_shape` is the shape of the last result inside it (for attention, with joined heads). If the module has no
  // inner modules, `output_shape` is the shape of its first output: later outputs can belong to another layer with the
  // same weights. The shape is empty if the module computed nothing.
  std::vector<int64_t> output_shape;
  int64_t parameters = 0;
  Products macs;
};

struct ModelSummary {
  int64_t parameters = 0;  // a parameter that two modules share counts once
  // The number of parameters of the blocks' trained attention feature maps, and of all other parameters of the blocks.
  int64_t kernel_parameters = 0, block_parameters = 0;
  Products macs;
  std::vector<LayerSummary> layers;  // in the order of first use; the rows' numbers add up to the model's
};

/// The mode of a forward pass: training or inference. A forward pass for inference may skip modules that training runs,
/// such as the gates of a frozen cache.
enum class Pass { training, inference };

/// The depth of a summary's rows: the model is 0, "blocks" 1, "blocks.0" 2. If a summary leaves out deeper modules,
/// their numbers are added to the row of the module that contains them.
inline constexpr int64_t kAllDepths = std::numeric_limits<int64_t>::max();

/// Counts the multiplications of one call of `forward`. `model` owns the weights and must be held by a shared_ptr, as
/// LibTorch requires for a walk through modules. The model may be on any device. On the meta device, no values are
/// computed. MACs are counted by the rules of the papers, so that the MACs of the published modules agree with the
/// tables of these papers. The summary has one column for the MACs of linear layers and convolutions, and one column
/// for the MACs of attention products. In a layer with a recurrent cache C, the products W[C, X̄] for the gates and the
/// candidate have 2·Dm inputs. All 2·Dm inputs are counted for every sample, although the product with a C that all
/// samples share is computed only once. Norms, activations and biases are not counted.
ModelSummary summarize(torch::nn::Module& model, const std::function<at::Tensor()>& forward,
                       int64_t depth = kAllDepths);

/// Counts the multiplications for one sample of the plan's input size, on a model with shapes but no values. If
/// LibTorch has a meta-device shape function for every operator of the model, as for Cachet's models, counting needs
/// less memory and time than a forward pass.
ModelSummary summarize(const models::ModelPlan& plan, Pass pass = Pass::training, int64_t depth = kAllDepths);

/// Counts the multiplications of an existing model in its current mode, training or evaluation, without changing it.
ModelSummary summarize(const models::Model& model, int64_t depth = kAllDepths);

}  // namespace cachet::analysis
