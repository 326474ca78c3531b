#pragma once

#include <memory>
#include <optional>

#include "cachet/data/loader.h"
#include "cachet/data/vision/augmentation/mixing.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/image_transform.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/nn/layers/outliers.h"
#include "cachet/tasks/classification/classifies_data.h"
#include "cachet/tasks/exports/exported_model.h"
#include "cachet/tasks/image_classification/preprocessing.h"
#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {

/// An image-classification recipe without its training options: the tables [data] and [model].
struct ImageClassificationOptions {
  data::DatasetOptions dataset;
  data::NormalizationOptions normalization;
  data::AugmentationOptions augmentation;
  data::ResizeOptions resize;
  data::MixingOptions mixing;
  nn::OutlierOptions outliers;               // among the images of a training step
  data::Split held_out = data::Split::test;  // what is evaluated: in training, and by build() for a test
  data::LoaderOptions loader;
  /// Of a trained model: the size of the images that it was trained on, to which a given file is brought; 0 if it is
  /// not known, or if each image has its own.
  io::ImageSize stored_size{};
  /// Of an export whose classes have numbers alone: these numbers as names. The names in a data folder are not used.
  std::vector<std::string> exported_numbers{};
  bool is_exported = false;                   // the model is an export, which has all that its answers depend on
  std::optional<int64_t> evaluation_limit{};  // of the images that are evaluated, instead of dataset.limit
  int64_t repeated_augmentation = 1;          // of training: data::EqualBatchOptions::repeats
  bool knows_classes = false;                 // how many the data have, before they are opened
  models::ImageClassifierPlan model;          // by default made for the data's images and classes
};

/// Reads [data] (with its tables normalization, augmentation, resize, mixing and outliers), [model] and of [task]
/// held_out = "validation" | "test". The default of held_out is validation if there are images to validate with.
ImageClassificationOptions read_image_classification_options(const config::View& root,
                                                             data::DataRoot data_root = data::DataRoot::required);

/// Whether the mean and the deviation would be computed from the training images: known ones need no images.
bool takes_training_statistics(const ImageClassificationOptions& options);

/// The shape of the images that a model was trained on; nothing if only the files have it.
std::optional<data::ImageShape> trained_shape(const ImageClassificationOptions& options);

class ImageClassificationPlan : public TaskPlan,
                                public PreparesImages,
                                public ClassifiesData,
                                public TakesExportedModel {
 public:
  explicit ImageClassificationPlan(ImageClassificationOptions options) : options_(std::move(options)) {}

  const ImageClassificationOptions& options() const { return options_; }

  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<ImageClassificationPlan>(*this); }
  TaskProfile profile() const override;
  std::vector<DataPlace> data() const override;
  std::optional<std::string> absent_data() const override;
  DataLook look_at_data(const data::LookProgress& progress) const override;
  /// The names of the classes, and the mean, deviation and size of the training images (image_statistics.h), if the
  /// recipe leaves them to the data: they are part of what a model means.
  SavedFiles files_to_keep() const override;
  std::vector<std::string> saved_file_settings(const std::filesystem::path& run) const override;
  std::optional<std::string> keys_from_training_data() const override;
  std::vector<std::string> class_name_settings() const override;
  std::optional<int64_t> data_limit() const override { return options_.dataset.limit; }
  void limit_evaluation(int64_t limit) override { options_.evaluation_limit = limit; }
  void evaluate_all() override;
  std::optional<uint64_t> seed_of_samples() const override { return options_.dataset.subset_seed; }
  void reduce() override { options_.loader.workers = 0; }
  int64_t batches_ahead() const override { return options_.loader.workers * options_.loader.prefetch; }
  std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const override;
  int64_t classes_of_model() const override { return options_.model.classes; }
  std::optional<int64_t> classes_of_data() const override;
  Preprocessing preprocessing() const override;
  std::vector<std::string> preparation_settings(const std::filesystem::path& weights) const override;
  /// Takes the names of the classes, the mean, the deviation and the size of images from the manifest too, if the
  /// recipe has none.
  void replace_model(const runtime::ExportManifest& manifest, MakeSession make) override;

 private:
  ImageClassificationOptions options_;
};

}  // namespace cachet::tasks
