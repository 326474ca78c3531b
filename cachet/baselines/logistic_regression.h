#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/data/vision/labelled_images.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"

namespace cachet::baselines {

/// The accuracy of a linear classifier of pixels: the baseline that a model must beat to have learnt anything about
/// images.
struct LogisticRegression {
  double top1 = 0, top1_stderr = 0;  // accuracy on the test images, and its standard error
  int64_t parameters = 0;
  int64_t macs = 0;  // multiply–accumulates of one image
};

/// Multinomial logistic regression with L2 penalty on normalised pixels. The training uses L-BFGS over all training
/// images until its loss converges. The result is deterministic.
LogisticRegression logistic_regression(const data::LabelledImages& training, const data::LabelledImages& test,
                                       const data::Normalization& normalization);

}  // namespace cachet::baselines
