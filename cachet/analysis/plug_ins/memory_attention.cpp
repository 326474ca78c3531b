#include "cachet/analysis/plug_ins/memory_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachet/nn/cache/concatenated_cache.h"

namespace cachet::analysis {
namespace {

using nn::Signal;

constexpr int64_t kMemoryScores = int64_t{1} << 22;  // that are in memory at a time

// The attention function of a layer: the layer reports the cache's tokens, its function the operands.
std::string function_of(const std::string& layer) { return layer.empty() ? "function" : layer + ".function"; }

}  // namespace

nn::Listener MemoryAttention::listener() {
  return nn::Listener(
      [this](const std::string& path, Signal signal, const at::Tensor& value) {
        if (signal == Signal::memory_tokens) call_ = {path, value.size(1), {}, {}};
        if (call_.entries == 0 || path != function_of(call_.layer)) return;
        if (signal == Signal::attention_operands) call_.queries = value;
        if (signal == Signal::attention_keys) call_.keys = value;
        if (signal == Signal::attention_bias) add(value);
      },
      {Signal::memory_tokens, Signal::attention_operands, Signal::attention_keys, Signal::attention_bias});
}

void MemoryAttention::add(const at::Tensor& bias) {
  const at::NoGradGuard no_grad;
  const Call call = std::exchange(call_, Call{});
  Sums& sums = sums_[call.layer];
  const at::Tensor q = call.queries.to(at::kFloat), k = call.keys.to(at::kFloat);
  const int64_t entries = k.size(2), own = entries - call.entries;
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(3)));
  const int64_t at_once = std::max<int64_t>(1, kMemoryScores / (q.size(1) * q.size(2) * entries));
  for (int64_t first = 0; first < q.size(0); first += at_once) {
    const int64_t count = std::min(at_once, q.size(0) - first);
    const auto some = [&](const at::Tensor& x) { return x.size(0) > 1 ? x.narrow(0, first, count) : x; };
    const at::Tensor scores = at::matmul(some(q), some(k).transpose(2, 3)) * scale + some(bias).to(at::kFloat);
    const at::Tensor on_memory =
        scores.softmax(3).narrow(3, own, call.entries).to(at::kDouble).sum({0, 2, 3}).to(at::kCPU);
    sums.on_memory = sums.on_memory.defined() ? sums.on_memory + on_memory : on_memory;
  }
  sums.count += static_cast<double>(q.size(0) * q.size(2));
}

ByLayer<std::vector<double>> MemoryAttention::layers() const {
  ByLayer<std::vector<double>> layers;
  for (const auto& [path, sums] : sums_) {
    const at::Tensor means = (sums.on_memory / sums.count).contiguous();
    layers[path].assign(means.const_data_ptr<double>(), means.const_data_ptr<double>() + means.numel());
  }
  return layers;
}

bool has_concatenated_cache(const torch::nn::Module& model) {
  const auto modules = model.modules(/*include_self=*/false);
  return std::ranges::any_of(
      modules, [](const auto& module) { return dynamic_cast<const nn::ConcatenatedCache*>(module.get()) != nullptr; });
}

}  // namespace cachet::analysis
