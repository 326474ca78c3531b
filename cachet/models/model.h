#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/nn/base/cloneable.h"

namespace cachet::models {

/// A model and synthetic samples of its input size, for counting operations and timing. The samples are made once. Each
/// call is like a step in the middle of a run: the state from earlier steps (a memory, a cache, memory tokens) is full.
/// All calls of a trial do the same work.
struct Trial {
  std::function<torch::Tensor()> forward;  // returns the model's first output (batch, …)
                                           // No tensor size in forward() depends on a tensor's values, so that
                                           // forward() also runs on the meta device.
  std::function<torch::Tensor()> loss;     // returns the training loss as a scalar, penalties included
};

/// A network with weights. Derived classes define the tasks of a model: ImageClassifier, FeaturePyramid,
/// ObjectDetector, SequenceClassifier, LanguageModel, TranslationModel. The derived classes that define tasks inherit
/// virtually from Model, so that one model may have several tasks.
class Model : public nn::CopyableModule {
 public:
  Model() = default;
  /// Returns a trial. `options`: device of the samples, and dtype of floating-point samples. The model must already be
  /// in the mode (training or evaluation) in which the functions of the trial are called. A call may advance states of
  /// the model, as a training step does.
  virtual Trial trial(int64_t batch, const torch::TensorOptions& options) = 0;

 protected:
  /// Returns a trial's loss: the mean over its samples or tokens, plus the model's penalties.
  torch::Tensor with_penalty(const torch::Tensor& mean);
  /// Returns a Trial (functions for counting and timing) for a model that scores classes. `forward` gives logits
  /// (batch, classes), and the loss is their cross-entropy with synthetic labels.
  Trial classifier_trial(std::function<torch::Tensor()> forward, int64_t batch, int64_t classes,
                         const torch::TensorOptions& options);

  // Models can be copied but not moved: a move would reach a virtual base through two paths, and move it twice.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
};

/// Returns Σ −p·log q of logits q and targets p, both (B, classes), as a scalar in float32. Each target sums to 1.
torch::Tensor summed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace cachet::models
