#include "cachet/tasks/image_classification_options.h"

namespace cachet::tasks {
namespace {

models::ImageDefaults defaults_of(const data::DatasetOptions& dataset, const data::ResizeOptions& resize) {
  const data::ImageTraits traits = data::image_traits(dataset);
  models::ImageShape image{traits.shape.channels, traits.shape.height, traits.shape.width};
  if (resize.image_size > 0) image.height = image.width = resize.image_size;
  return {image, traits.classes};
}

}  // namespace

ImageClassificationOptions read_image_classification_options(const config::View& root, data::RootKey data_root) {
  const config::View data = root.table("data");
  ImageClassificationOptions options;
  options.dataset = data::read_dataset_options(data, data_root);
  options.normalization = data::read_normalization_options(data.table("normalization"));
  options.augmentation = data::read_augmentation_options(data.table("augmentation"), options.dataset.own_sizes());
  options.resize = data::read_resize_options(
      data.table("resize"), options.dataset.own_sizes() ? data::ResizeOptions::of_own_sizes() : data::ResizeOptions());
  if (options.dataset.own_sizes() && options.normalization.source == data::NormalizationSource::data) {
    data.table("normalization").problem("source", "data is for images of one size; give mean and std");
  }
  options.mixing = data::read_mixing_options(data.table("mixing"));
  options.loader = data::read_loader_options(data);
  options.repeated_augmentation = data.integer("repeated_augmentation", options.repeated_augmentation, {1, 64});
  options.model = models::read_image_classifier(root.table("model"), defaults_of(options.dataset, options.resize));
  return options;
}

}  // namespace cachet::tasks
