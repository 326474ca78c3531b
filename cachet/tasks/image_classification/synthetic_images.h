#pragma once

#include "cachet/data/vision/labelled_images.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// Returns `count` images of noise in the model's input size. The images are the same in each call, and their classes
/// are 0, 1, 2 and so on, in turn. With synthetic images, you can try a recipe without its data.
data::LabelledImages synthetic_images(const models::ImageClassifierPlan& model, int64_t count);

}  // namespace cachet::tasks
