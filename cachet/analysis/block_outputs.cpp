#include "cachet/analysis/block_outputs.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/linalg_eigh.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <utility>

#include "cachet/analysis/valid_tokens.h"

namespace cachet::analysis {

// The first block that is heard of opens each batch. A model whose blocks run several times a batch (pairs of
// sequences) counts as giving several batches.
nn::Listener BlockOutputs::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        if (signal == nn::Signal::token_padding) padding_ = {path, value};
        if (signal != nn::Signal::block_output) return;
        const auto [of, tokens] = std::exchange(padding_, {});
        if (value.size(0) != examples_) return;
        auto known = std::ranges::find(layers_, path);
        if (known == layers_.end()) known = layers_.insert(layers_.end(), path);
        const auto index = static_cast<size_t>(known - layers_.begin());
        if (index == 0) batches_.emplace_back();
        std::vector<at::Tensor>& batch = batches_.back();
        batch.resize(std::max(batch.size(), index + 1));
        batch[index] = root_of_gram(without_padding(value, of == path ? tokens : at::Tensor()));
      },
      {nn::Signal::token_padding, nn::Signal::block_output});
}

at::Tensor root_of_gram(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  const at::Tensor flat = x.detach().to(at::kCPU, at::kDouble).reshape({x.size(0), -1});
  const auto [values, vectors] = at::linalg_eigh(at::matmul(flat, flat.t()));
  return vectors * values.clamp_min(0).sqrt();
}

}  // namespace cachet::analysis
