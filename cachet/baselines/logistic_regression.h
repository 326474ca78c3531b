#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "cachet/data/vision/labelled_images.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"

namespace cachet::baselines {

/// The accuracy of a linear classifier whose inputs are the pixels of an image. A model must be more accurate than this
/// linear classifier to have learned anything about images.
struct LogisticRegression {
  double top1 = 0, top1_stderr = 0;  // accuracy on the test images, and its standard error
  int64_t parameters = 0;
  int64_t macs = 0;  // multiply–accumulates for one image
};

/// Trains and tests multinomial logistic regression with L2 penalty on normalised pixels. Training uses L-BFGS on all
/// training images until the loss converges. The result is deterministic.
LogisticRegression logistic_regression(const data::LabelledImages& training, const data::LabelledImages& test,
                                       const data::Normalization& normalization);

}  // namespace cachet::baselines
