#include "cachet/tasks/analyses/cache_interventions.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "cachet/analysis/plug_ins/stored_caches.h"
#include "cachet/io/json/parse_json.h"
#include "cachet/nn/cache/reset_caches.h"
#include "cachet/tasks/analyses/result_values.h"

namespace cachet::tasks {

int64_t zero_caches(torch::nn::Module& model) { return nn::reset_caches(model); }

int64_t rotate_caches(torch::nn::Module& model) {
  const at::NoGradGuard no_grad;
  std::map<std::vector<int64_t>, std::vector<at::Tensor>> by_shape;
  for (const analysis::StoredCache& cache : analysis::stored_caches(model))
    by_shape[cache.tokens.sizes().vec()].push_back(cache.tokens);
  int64_t changed = 0;
  for (auto& [shape, caches] : by_shape) {
    if (caches.size() < 2) continue;
    const at::Tensor first = caches.front().clone();
    for (size_t i = 0; i + 1 < caches.size(); ++i) caches[i].copy_(caches[i + 1]);
    caches.back().copy_(first);
    changed += static_cast<int64_t>(caches.size());
  }
  return changed;
}

int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other) {
  const at::NoGradGuard no_grad;
  const std::vector<analysis::StoredCache> theirs = analysis::stored_caches(other);
  int64_t changed = 0;
  for (analysis::StoredCache& cache : analysis::stored_caches(model))
    for (const analysis::StoredCache& given : theirs) {
      if (given.layer != cache.layer || given.tokens.sizes() != cache.tokens.sizes()) continue;
      cache.tokens.copy_(given.tokens);
      ++changed;
    }
  return changed;
}

std::vector<PartLoss> losses_of_records(const std::vector<Record>& records) {
  std::vector<PartLoss> parts;
  metrics::TextBlocks blocks;
  for (const Record& record : records) {
    const auto json = io::parse_json<ordered_json>(record);
    if (const auto rows = json.find("loss_by_lane"); rows != json.end()) {
      const std::vector<double> losses = numbers_in(*rows);
      auto tokens = json.at("tokens_by_lane").get<std::vector<int64_t>>();
      tokens.resize(losses.size());
      blocks.add(losses, tokens);
    } else if (const auto loss = json.find("loss"); loss != json.end()) {
      parts.push_back({number_in(*loss), json.value("tokens", 1.0)});
    }
  }
  std::ranges::copy(blocks.parts(), std::back_inserter(parts));
  return parts;
}

MeanLoss mean_loss(const std::vector<PartLoss>& parts) {
  double loss = 0, weight = 0;
  for (const PartLoss& part : parts) {
    loss += part.loss;
    weight += part.weight;
  }
  const double mean = loss / weight;
  return {mean, metrics::loss_error(parts, mean)};
}

std::optional<MeanLoss> change_of_loss(const std::vector<PartLoss>& before, const std::vector<PartLoss>& after) {
  if (before.empty() || before.size() != after.size()) return std::nullopt;
  std::vector<PartLoss> changes;
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].weight != after[i].weight) return std::nullopt;
    changes.push_back({after[i].loss - before[i].loss, before[i].weight});
  }
  return mean_loss(changes);
}

}  // namespace cachet::tasks
