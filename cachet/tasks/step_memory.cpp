#include "cachet/tasks/step_memory.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "cachet/analysis/cost/meta_model.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/nn/cache/cache_options.h"
#include "cachet/report/format.h"
#include "cachet/train/machine/memory_limit.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kStepCopiesOfACache = 10;  // about as many tensors of its size as a step of training keeps

struct StepMemory {
  int64_t weight_bytes = 0, cache_bytes = 0;
  int64_t longest_cache = 0;  // slots
};

StepMemory memory_of_step(const models::ModelPlan& plan) {
  const auto model = analysis::build_on_meta(plan);
  StepMemory memory;
  for (const io::NamedTensor& parameter : io::distinct_parameters(*model))
    memory.weight_bytes += 2 * static_cast<int64_t>(parameter.tensor.nbytes());  // and its gradient
  for (const auto& module : model->modules()) {
    const auto* cache = dynamic_cast<const nn::Cache*>(module.get());
    if (cache == nullptr) continue;
    const at::Tensor tokens = cache->stored_tokens();
    if (!tokens.defined()) continue;
    memory.cache_bytes += kStepCopiesOfACache * static_cast<int64_t>(tokens.nbytes());
    memory.longest_cache = std::max(memory.longest_cache, tokens.size(1));
  }
  return memory;
}

void require_free(const StepMemory& needed) {
  const int64_t bytes = needed.weight_bytes + needed.cache_bytes;
  const std::optional<int64_t> available = train::available_bytes();
  if (!available || bytes <= *available) return;
  const bool of_caches = needed.cache_bytes > needed.weight_bytes;
  throw std::runtime_error(
      (of_caches ? "model.cache.length: " : "") + std::string("the weights of the model and their gradients take ") +
      report::format_bytes(needed.weight_bytes) + ", its caches take " + report::format_bytes(needed.cache_bytes) +
      " in a step, but this machine has only " + report::format_bytes(*available) + " of free memory; make the " +
      (of_caches ? "caches shorter" : "model smaller"));
}

}  // namespace

void require_memory(const models::ModelPlan& plan) { require_free(memory_of_step(plan)); }

void require_memory_of_new_run(const models::ModelPlan& plan) {
  const StepMemory needed = memory_of_step(plan);
  if (needed.longest_cache > nn::kMaxCacheLength)
    throw std::runtime_error("model.cache.length: must be at most " + std::to_string(nn::kMaxCacheLength) +
                             " in a new run, got " + std::to_string(needed.longest_cache) +
                             ". With this length, the caches of a step take about " +
                             report::format_bytes(needed.cache_bytes));
  require_free(needed);
}

}  // namespace cachet::tasks
