#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/nn/base/cloneable.h"

namespace cachet::models {

/// A model over synthetic samples of its own size, for counting and timing. The samples are made once. Each call is a
/// step in the middle of a run: the state between steps (a memory, a cache, memory tokens) is full, and two calls do
/// the same.
struct Trial {
  std::function<torch::Tensor()> forward;  // what the model gives for them, (batch, …); the first part of several.
                                           // No size in it depends on a value, so that it runs on the meta device
  std::function<torch::Tensor()> loss;     // what training differentiates, penalties of the model included: a scalar
};

/// A network with weights. What it can do is what derives from this class: ImageClassifier, FeaturePyramid,
/// ObjectDetector, SequenceClassifier, LanguageModel, TranslationModel. They derive virtually, so that one model may do
/// several of these.
class Model : public nn::CopyableModule {
 public:
  Model() = default;
  /// `options` are the device of the samples, and the dtype of floating samples.
  /// The model has to be in the mode, training or evaluation, in which the trial is called. States of the model may
  /// move on, as in a step.
  virtual Trial trial(int64_t batch, const torch::TensorOptions& options) = 0;

 protected:
  /// A trial's loss: the mean over its samples or tokens, and the penalties that the model asks for.
  torch::Tensor with_penalty(const torch::Tensor& mean);
  /// The trial of a model that scores classes: `forward` gives logits (batch, classes), the loss is their cross-entropy
  /// with synthetic labels.
  Trial classifier_trial(std::function<torch::Tensor()> forward, int64_t batch, int64_t classes,
                         const torch::TensorOptions& options);

  // Copied, never moved: two paths to a virtual base would move it twice.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
};

/// Σ −p·log q of logits q and targets p, both (B, classes), targets that add up to 1: a scalar in float32.
torch::Tensor summed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace cachet::models
