// What it costs to listen to a small cached vision transformer while it trains, as ratios of steps taken in turns with
// and without a listener. Prints CSV.
#include <ATen/Parallel.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <torch/nn/functional/loss.h>

#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "benchmarks/pairs.h"
#include "cachet/analysis/plug_ins/gate_use.h"
#include "cachet/analysis/plug_ins/kernel_use.h"
#include "cachet/analysis/plug_ins/memory_use.h"
#include "cachet/analysis/statistics/step_statistics.h"
#include "cachet/models/vision/vision_transformer.h"

namespace {

using namespace cachet;

enum class Attention { softmax, kernel };

models::VisionTransformerOptions small_cached_model(Attention attention) {
  models::VisionTransformerOptions options;
  options.image = {3, 64, 64};
  options.patch_size = 8;
  options.embed_dim = 192;
  options.depth = 6;
  options.num_heads = 3;
  options.classes = 10;
  options.plug_ins.cache = nn::GatedRecurrentCacheOptions::of(nn::GatedRecurrentCacheVariant::paper);
  options.plug_ins.norm = nn::UnifiedNormOptions{};
  if (attention == Attention::kernel) options.plug_ins.attention.function = nn::KernelOptions{};
  return options;
}

void row(const std::string& what, models::VisionTransformer& model, const std::function<nn::Listener()>& make) {
  const at::Tensor images = at::randn({16, 3, 64, 64}), labels = at::randint(10, {16}, at::kLong);
  const auto step = [&] {
    torch::nn::functional::cross_entropy(model.forward(images), labels).backward();
    for (at::Tensor& parameter : model.parameters()) parameter.mutable_grad().reset();
  };
  const auto observed = [&] {
    const nn::Observation observation(model, make());
    step();
  };
  const auto times = benchmarks::in_turns({observed, step}, 21);
  const analysis::Quartiles ratio = analysis::ratio_of_pairs(times[0], times[1]);
  std::cout << what << ',' << analysis::quartiles(times[1]).median << ',' << ratio.median << ',' << ratio.lower << ','
            << ratio.upper << std::endl;
}

}  // namespace

int main() {
  at::set_num_threads(2);
  std::cout << "listener,step_ms,ratio,lower,upper\n";
  const auto made = [](Attention attention) {
    return std::make_shared<models::VisionTransformer>(small_cached_model(attention));
  };
  const auto of_softmax = made(Attention::softmax), of_kernels = made(Attention::kernel);
  models::VisionTransformer& model = *of_softmax;
  analysis::MemoryUse memory;
  row("a listener that receives all values and stores none", model,
      [] { return [](const std::string&, nn::Signal, const at::Tensor&) {}; });
  row("`norms`", model, [&] {
    static std::optional<analysis::StepStatistics> statistics;
    statistics.emplace(model);
    return statistics->listener();
  });
  row("`gates`", model, [] {
    static analysis::GateUse gates;
    return gates.listener();
  });
  row("`caches`", model, [&] { return memory.listener(); });
  const auto kernels_of = [](const models::VisionTransformer& observed) {
    return [&observed] {
      static std::optional<analysis::KernelUse> kernels;
      kernels.emplace(observed, /*seed=*/0);
      return kernels->listener();
    };
  };
  row("`kernels` of softmax attention", model, kernels_of(model));
  row("`kernels` of kernel attention", *of_kernels, kernels_of(*of_kernels));
}
