#pragma once

#include "cachet/data/vision/labelled_images.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// `count` images of noise, the same every time, of the size that a model takes, each class in turn: to try a recipe
/// where its data are not at hand.
data::LabelledImages synthetic_images(const models::ImageClassifierPlan& model, int64_t count);

}  // namespace cachet::tasks
