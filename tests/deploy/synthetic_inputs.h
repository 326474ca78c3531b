#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "cachet/models/language/sequence_classifier.h"
#include "cachet/models/vision/image_classifier.h"

namespace cachet::deploy {

/// Synthetic inputs of a classifier, those that inputs_of() names; sequences are so much shorter than the longest,
/// the second of pairs by one token more, and end in padding.
inline std::vector<at::Tensor> synthetic_inputs(const models::Model& model, int64_t batch, int64_t shorter = 0) {
  if (const auto* images = dynamic_cast<const models::ImageClassifier*>(&model)) {
    const models::ImageShape image = images->image_shape();
    return {at::randn({batch, image.channels, image.height, image.width})};
  }
  const models::SequenceShape shape = dynamic_cast<const models::SequenceClassifier&>(model).sequence_shape();
  std::vector<at::Tensor> inputs;
  for (int64_t i = 0; i < (shape.pairs ? 2 : 1); ++i) {
    const int64_t length = shape.max_length - shorter - i;
    inputs.push_back(at::randint(shape.vocabulary, {batch, length}, at::kLong));
    inputs.push_back((at::arange(length) >= length - 3).expand({batch, length}).contiguous());
  }
  return inputs;
}

}  // namespace cachet::deploy
