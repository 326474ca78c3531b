#pragma once

#include <torch/nn/module.h>

#include <cstdint>
#include <functional>

#include "cachet/nn/cloneable.h"

namespace cachet::models {

/// A model over made-up samples of its own size, for counting and timing. The samples are made once.
struct Trial {
  std::function<torch::Tensor()> forward;  // what the model gives for them, (batch, …); the first part of several
  std::function<torch::Tensor()> loss;     // a forward pass and what training might make of it: a scalar
};

/// A network with weights. What it can do is what derives from this class: ImageClassifier, FeaturePyramid,
/// ObjectDetector, SequenceClassifier, LanguageModel, TranslationModel. They derive virtually, so that one model may do
/// several of these.
class Model : public nn::CopyableModule {
 public:
  Model() = default;
  /// `options` say where the samples are made, and of which dtype where they are floating.
  virtual Trial trial(int64_t batch, const torch::TensorOptions& options) = 0;

 protected:
  // Copied, never moved: two paths to a virtual base would move it twice.
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
};

/// The trial of a model that scores classes: `forward` gives logits (batch, classes), the loss is their cross-entropy
/// with made-up labels.
Trial classifier_trial(std::function<torch::Tensor()> forward, int64_t batch, int64_t classes,
                       const torch::TensorOptions& options);

}  // namespace cachet::models
