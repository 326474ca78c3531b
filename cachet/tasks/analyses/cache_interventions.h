#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

// Changes of a model's stored caches. The effect of a change on the model's results shows whether the model uses its
// caches. Each function of this file returns the number of caches that it changed. To be able to restore the caches,
// save the model's buffers before the change.

int64_t zero_caches(torch::nn::Module& model);

/// Gives each layer the cache of the next layer whose cache has the same shape. Among the layers whose caches have the
/// same shape, the last layer gets the cache of the first layer. If no other cache has the shape of a layer's cache,
/// the layer retains its cache.
int64_t rotate_caches(torch::nn::Module& model);

/// Gives each layer the cache of the corresponding layer of another model, if both caches have the same shape.
int64_t take_caches(torch::nn::Module& model, const torch::nn::Module& other);

// The effect of a change on the loss of an evaluation.

/// A part of an evaluation whose loss is nearly independent of the losses of other parts: a sample, or a block of text
/// (LanguageTally). The loss of an evaluation is the sum of `loss` over all parts, divided by the sum of `weight`.
struct PartLoss {
  double loss = 0;
  double weight = 1;  // the number of tokens, or 1 for a classified sample
};

/// Returns the losses of an evaluation's parts from its records (EvaluatesRecords). If the records have no losses, the
/// list is empty.
std::vector<PartLoss> losses_of_records(const std::vector<Record>& records);

/// A mean, and its standard error. Fewer than two parts have no standard error.
struct MeanLoss {
  double mean = 0;
  std::optional<double> error{};
};

/// Returns the mean loss. The standard error is that of a ratio of sums (Cochran, Sampling Techniques, 1977, §6.3); for
/// parts of the same weight it is the usual standard error of a mean.
MeanLoss mean_loss(const std::vector<PartLoss>& parts);

/// Returns the difference between the mean losses of two evaluations of the same parts. The standard error is that of
/// the parts' differences. If the parts differ in number or in weight, the result is empty.
std::optional<MeanLoss> change_of_loss(const std::vector<PartLoss>& before, const std::vector<PartLoss>& after);

}  // namespace cachet::tasks
