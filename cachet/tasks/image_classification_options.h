#pragma once

#include "cachet/config/view.h"
#include "cachet/data/loader.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/mixing.h"
#include "cachet/data/vision/normalization.h"
#include "cachet/data/vision/transforms.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// What an image-classification recipe says besides how to train: the tables [data] and [model].
struct ImageClassificationOptions {
  data::DatasetOptions dataset;
  data::NormalizationOptions normalization;
  data::AugmentationOptions augmentation;
  data::ResizeOptions resize;
  data::MixingOptions mixing;
  data::LoaderOptions loader;
  int64_t repeated_augmentation = 1;  // of training: data::EqualBatchOptions::repeats
  models::ImageClassifierPlan model;  // made for the data's images and classes unless it says otherwise
};

/// Reads [data] (with its tables normalization, augmentation, resize and mixing) and [model] of a recipe.
ImageClassificationOptions read_image_classification_options(const config::View& root,
                                                             data::RootKey data_root = data::RootKey::required);

}  // namespace cachet::tasks
