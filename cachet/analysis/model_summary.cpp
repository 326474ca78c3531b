#include "cachet/analysis/model_summary.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "cachet/analysis/meta_model.h"
#include "cachet/analysis/product_trace.h"
#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/initialization.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::analysis {
namespace {

// "torch::nn::Conv2dImpl" -> "Conv2d"
std::string kind_of(const torch::nn::Module& module) {
  std::string name = module.name();
  if (const size_t colon = name.rfind(':'); colon != std::string::npos) name = name.substr(colon + 1);
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name;
}

// The module at most `depth` levels down that a path lies in.
std::string ancestor(const std::string& path, int64_t depth) {
  if (depth <= 0) return {};
  size_t end = 0;
  for (int64_t level = 0; level < depth; ++level) {
    end = path.find('.', level == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path;
  }
  return path.substr(0, end);
}

// The rows under way, in the order in which they were first asked for.
class Rows {
 public:
  Rows(torch::nn::Module& model, int64_t depth) : depth_(depth) {
    for (const auto& item : model.named_modules("", /*include_self=*/true))
      kinds_.emplace(item.key(), kind_of(*item.value()));
  }

  void add(const OperatorUse& use) {
    Row& row = row_of(use.path);
    row.summary.macs += use.macs;
    // A module's own last result, or else that of what lies inside it.
    const bool own = use.path == row.summary.path;
    if (!own && row.has_own_shape) return;
    row.summary.output_shape = use.output_shape;
    row.has_own_shape = own;
  }
  void add_parameters(const std::string& path, int64_t count) { row_of(path).summary.parameters += count; }

  std::vector<LayerSummary> finish() && {
    std::vector<LayerSummary> layers;
    for (Row& row : rows_) layers.push_back(std::move(row.summary));
    return layers;
  }

 private:
  struct Row {
    LayerSummary summary;
    bool has_own_shape = false;
  };

  Row& row_of(const std::string& path) {
    const std::string name = ancestor(path, depth_);
    const auto [found, added] = index_.emplace(name, rows_.size());
    if (added) rows_.push_back({{name, kinds_.at(name), {}, 0, {}}});
    return rows_[found->second];
  }

  int64_t depth_;
  std::unordered_map<std::string, std::string> kinds_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<Row> rows_;
};

int64_t parameters_of(const torch::OrderedDict<std::string, std::shared_ptr<torch::nn::Module>>::Item& item) {
  int64_t count = 0;
  for (const auto& parameter : item.value()->parameters()) count += parameter.defined() ? parameter.numel() : 0;
  return count;
}

}  // namespace

ModelSummary summarize(torch::nn::Module& model, const std::function<at::Tensor()>& forward, int64_t depth) {
  Rows rows(model, depth);
  ModelSummary summary;
  {
    const ProductTrace trace(model);
    const at::Tensor output = forward();
    for (const OperatorUse& use : trace.uses()) {
      rows.add(use);
      summary.macs += use.macs;
    }
    rows.add({"", output.sizes().vec(), {}});
  }
  std::unordered_set<const c10::TensorImpl*> counted;
  for (const auto& item : model.named_modules("", /*include_self=*/true)) {
    for (const auto& parameter : item.value()->parameters(/*recurse=*/false)) {
      if (!parameter.defined() || !counted.insert(parameter.unsafeGetTensorImpl()).second) continue;
      rows.add_parameters(item.key(), parameter.numel());
      summary.parameters += parameter.numel();
    }
    if (dynamic_cast<const nn::KernelAttention*>(item.value().get())) summary.kernel_parameters += parameters_of(item);
    if (dynamic_cast<const nn::TransformerBlock*>(item.value().get())) summary.block_parameters += parameters_of(item);
  }
  summary.block_parameters -= summary.kernel_parameters;
  summary.layers = std::move(rows).finish();
  return summary;
}

ModelSummary summarize(const models::ModelPlan& plan, Pass pass, int64_t depth) {
  at::NoGradGuard no_grad;
  const auto count = [&](models::Model& model, c10::DeviceType device) {
    model.train(pass == Pass::training);
    // Norms multiply nothing either way; in evaluation they also take a batch of one token.
    for (const auto& module : model.modules())
      if (dynamic_cast<nn::Norm*>(module.get())) module->eval();
    return summarize(model, model.trial(1, at::TensorOptions(device)).forward, depth);
  };
  try {
    return count(*build_on_meta(plan), at::kMeta);
  } catch (const c10::NotImplementedError&) {  // some operator of it has no shape function
    const nn::WithoutInitialization no_values;
    return count(*plan.build(), at::kCPU);
  }
}

ModelSummary summarize(const models::Model& model, int64_t depth) {
  ModelSummary summary;
  use_shapes_of(model, [&](models::Model& copy, const at::TensorOptions& options) {
    summary = summarize(copy, copy.trial(1, options).forward, depth);
  });
  return summary;
}

}  // namespace cachet::analysis
