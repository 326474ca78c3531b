#include "cachet/tasks/image_classification/image_classification_plan.h"

#include <filesystem>

#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/image_classification/image_classification.h"

namespace cachet::tasks {
namespace {

// What the files of a kind hold. IDX files do not say before they are open: grey images of the usual size.
models::ImageDefaults defaults_of(const data::DatasetOptions& dataset, const data::ResizeOptions& resize) {
  models::ImageShape image{1, 28, 28};
  int64_t classes = 10;
  switch (dataset.kind) {
    case data::DatasetKind::idx:
      classes = dataset.classes;
      break;
    case data::DatasetKind::class_folders:
      image.channels = dataset.folders.channels;
      classes = dataset.classes;
      break;
    case data::DatasetKind::mnist:
    case data::DatasetKind::fashion_mnist:
      break;
    case data::DatasetKind::cifar10:
      image = {3, 32, 32};
      break;
    case data::DatasetKind::cifar100:
      image = {3, 32, 32};
      classes = 100;
      break;
  }
  if (resize.image_size > 0) image.height = image.width = resize.image_size;
  return {image, classes};
}

}  // namespace

ImageClassificationOptions read_image_classification_options(const config::View& root, DataRoot data_root) {
  const config::View data = root.table("data");
  ImageClassificationOptions options;
  options.dataset = data::read_dataset_options(
      data, data_root == DataRoot::required ? data::RootKey::required : data::RootKey::optional);
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

TaskProfile ImageClassificationPlan::profile() const {
  return {"image_classification", {"image", "images", "img/s", "test"}, classification_metrics(), options_.model};
}

std::vector<DataPlace> ImageClassificationPlan::data() const {
  const data::DatasetOptions& dataset = options_.dataset;
  return {{std::string(data::to_string(dataset.kind)), dataset.root, data::expected_files(dataset)}};
}

std::optional<std::string> ImageClassificationPlan::absent_data() const try {
  data::find_dataset_root(options_.dataset, std::filesystem::current_path());
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

std::unique_ptr<Task> ImageClassificationPlan::build(const train::TrainOptions& training, Splits splits) const {
  return std::make_unique<ImageClassification>(*this, training, splits);
}

// What a recipe leaves open, its kind of data may know.
Preprocessing ImageClassificationPlan::preprocessing() const {
  Preprocessing result{options_.normalization, options_.resize};
  if (result.normalization.mean.empty() && result.normalization.source == data::NormalizationSource::automatic) {
    if (const auto known = data::Normalization::known(options_.dataset.kind))
      result.normalization = normalization_options(*known, options_.model.image.channels);
  }
  return result;
}

TaskKind image_classification() {
  return {"image_classification", [](const config::View& root, DataRoot data_root) {
            return std::make_unique<ImageClassificationPlan>(read_image_classification_options(root, data_root));
          }};
}

}  // namespace cachet::tasks
