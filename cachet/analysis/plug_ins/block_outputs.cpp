#include "cachet/analysis/plug_ins/block_outputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <utility>

#include "cachet/analysis/plug_ins/valid_tokens.h"

namespace cachet::analysis {
namespace {

// The name of a block's part, by the signal of the block.
const std::map<nn::Signal, std::string>& part_names() {
  static const std::map<nn::Signal, std::string> names{
      {nn::Signal::norm1_output, ".norm1"},           {nn::Signal::attention_output, ".attn"},
      {nn::Signal::cross_norm_output, ".cross_norm"}, {nn::Signal::cross_attention_output, ".cross_attn"},
      {nn::Signal::norm2_output, ".norm2"},           {nn::Signal::feed_forward_output, ".mlp"}};
  return names;
}

}  // namespace

void Representations::add(const std::string& layer, at::Tensor root) {
  auto known = std::ranges::find(layers_, layer);
  if (known == layers_.end()) known = layers_.insert(layers_.end(), layer);
  const auto index = static_cast<size_t>(known - layers_.begin());
  if (index == 0) batches_.emplace_back();
  std::vector<at::Tensor>& batch = batches_.back();
  batch.resize(std::max(batch.size(), index + 1));
  batch[index] = std::move(root);
}

nn::Listener BlockOutputs::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        if (signal == nn::Signal::token_padding) {
          padding_[path] = value;
          return;
        }
        const auto padding = padding_.find(path);
        const at::Tensor tokens = padding == padding_.end() ? at::Tensor() : padding->second;
        if (signal == nn::Signal::block_output) padding_.erase(path);
        if (value.size(0) != examples_) return;
        const at::Tensor root = root_of_gram(without_padding(value, tokens));
        if (signal == nn::Signal::block_output)
          blocks_.add(path, root);
        else
          parts_.add(path + part_names().at(signal), root);
      },
      {nn::Signal::token_padding, nn::Signal::block_output, nn::Signal::norm1_output, nn::Signal::attention_output,
       nn::Signal::cross_norm_output, nn::Signal::cross_attention_output, nn::Signal::norm2_output,
       nn::Signal::feed_forward_output});
}

at::Tensor root_of_gram(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const at::Tensor flat = x.detach().to(at::kCPU, at::kDouble).reshape({x.size(0), -1});
  const auto [values, vectors] = at::linalg_eigh(at::matmul(flat, flat.t()));
  return vectors * values.clamp_min(0).sqrt();
}

}  // namespace cachet::analysis
