#pragma once

#include "cachet/data/vision/labelled_images.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// Returns `count` images of noise, always the same, in the model's size, with the classes in turn. These images
/// serve to try a recipe without its data.
data::LabelledImages synthetic_images(const models::ImageClassifierPlan& model, int64_t count);

}  // namespace cachet::tasks
