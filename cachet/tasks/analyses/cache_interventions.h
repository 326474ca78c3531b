#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/metrics/loss_error.h"
#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

// Functions that change the values in a model's stored caches. If changed caches lead to other results, the model uses
// its caches. Each function of this file returns the number of caches that it changed. To restore the caches later,
// save the model's buffers first.

int64_t zero_caches(torch::nn::Module& model);

/// Gives each layer the cache of the next layer whose cache has the same shape. Among the layers whose caches have the
/// same shape, the last layer gets the cache of the first layer. If no other cache has the shape of a layer's cache,
/// the layer retains its cache.
int64_t rotate_caches(torch::nn::Module& model);

/// Gives each layer the cache of the corresponding layer of another model, if both caches have the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

// The effect of a change on the loss of an evaluation.

using metrics::PartLoss;

/// Returns the losses of an evaluation's parts from its records (EvaluatesRecords). If the records have no losses, the
/// list is empty.
std::vector<PartLoss> losses_of_records(const std::vector<Record>& records);

/// A mean, and its standard error if the evaluation has at least two parts.
struct MeanLoss {
  double mean = 0;
  std::optional<double> error{};
};

/// Returns the mean loss with its standard error (metrics::loss_error()).
MeanLoss mean_loss(const std::vector<PartLoss>& parts);

/// Returns the mean loss of `after` minus the mean loss of `before`, two evaluations of the same data, with a standard
/// error. If `before` and `after` differ in length or in a part's weight, returns std::nullopt.
std::optional<MeanLoss> change_of_loss(const std::vector<PartLoss>& before, const std::vector<PartLoss>& after);

}  // namespace cachet::tasks
