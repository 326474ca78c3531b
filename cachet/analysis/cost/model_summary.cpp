#include "cachet/analysis/cost/model_summary.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "cachet/analysis/cost/meta_model.h"
#include "cachet/analysis/cost/product_trace.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/base/initialization.h"
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

// Shapes of what modules give, from what operators gave on their behalf, in order.
class OutputShapes {
 public:
  explicit OutputShapes(const torch::nn::Module& model) {
    for (const auto& item : model.named_modules("", /*include_self=*/true)) {
      if (dynamic_cast<const nn::Attention*>(item.value().get())) attentions_.insert(item.key());
      if (!item.value()->children().empty()) holders_.insert(item.key());
    }
  }

  void add(const std::string& path, const std::vector<int64_t>& shape) {
    if (path != last_path_) had_their_turn_.insert(std::exchange(last_path_, path));
    if (shape.empty()) return;
    if (holders_.contains(path) || !had_their_turn_.contains(path) || !shapes_.contains(path)) shapes_[path] = shape;
    for (std::string inner = path; !inner.empty();) {
      const size_t point = inner.rfind('.');
      inner.resize(point == std::string::npos ? 0 : point);
      shapes_[inner] = shape;
    }
  }

  std::vector<int64_t> of(const std::string& path) const {
    const auto found = shapes_.find(path);
    if (found == shapes_.end()) return {};
    std::vector<int64_t> shape = found->second;  // tokens of an attention: (B, L, C), or (B, L, heads, C / heads)
    if (shape.size() == 4 && attentions_.contains(path)) shape = {shape[0], shape[1], shape[2] * shape[3]};
    return shape;
  }

 private:
  std::unordered_set<std::string> attentions_, holders_, had_their_turn_;
  std::unordered_map<std::string, std::vector<int64_t>> shapes_;
  std::string last_path_;
};

// The rows under way, in the order in which they were first asked for.
class Rows {
 public:
  Rows(torch::nn::Module& model, int64_t depth) : depth_(depth), shapes_(model) {
    for (const auto& item : model.named_modules("", /*include_self=*/true))
      kinds_.emplace(item.key(), kind_of(*item.value()));
  }

  void add(const OperatorUse& use) {
    row_of(use.path).macs += use.macs;
    shapes_.add(use.path, use.output_shape);
  }
  void add_parameters(const std::string& path, int64_t count) { row_of(path).parameters += count; }

  std::vector<LayerSummary> finish() && {
    for (LayerSummary& row : rows_) row.output_shape = shapes_.of(row.path);
    return std::move(rows_);
  }

 private:
  LayerSummary& row_of(const std::string& path) {
    const std::string name = ancestor(path, depth_);
    const auto [found, added] = index_.emplace(name, rows_.size());
    if (added) rows_.push_back({name, kinds_.at(name), {}, 0, {}});
    return rows_[found->second];
  }

  int64_t depth_;
  OutputShapes shapes_;
  std::unordered_map<std::string, std::string> kinds_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<LayerSummary> rows_;
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
