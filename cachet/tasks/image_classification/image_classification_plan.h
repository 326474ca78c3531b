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

/// The tables [data] and [model] of an image-classification recipe, which do not include its training options.
struct ImageClassificationOptions {
  data::DatasetOptions dataset;
  data::NormalizationOptions normalization;
  data::AugmentationOptions augmentation;
  data::ResizeOptions resize;
  data::MixingOptions mixing;
  nn::OutlierOptions outliers;               // outliers added to the images of a training step
  data::Split held_out = data::Split::test;  // split to evaluate: in training, or (set by build()) in a test
  data::LoaderOptions loader;
  /// The size of the images on which a trained model was trained, or 0 if it is not known or differs between images. If
  /// stored_size is not 0, a user's image is first resized to stored_size.
  io::ImageSize stored_size{};
  /// The class numbers as names, for an export without class names. If exported_numbers is not empty, the classes have
  /// these names even if a data folder has class names.
  std::vector<std::string> exported_numbers{};
  bool is_exported = false;                   // whether the model is an export, which has all that affects predictions
  std::optional<int64_t> evaluation_limit{};  // number of images that are evaluated, instead of dataset.limit
  int64_t repeated_augmentation = 1;          // data::EqualBatchOptions::repeats in training
  bool knows_classes = false;                 // whether the number of classes is known before the data are opened
  models::ImageClassifierPlan model;          // default: a plan for the data's images and classes
};

/// Reads [data] (with its tables normalization, augmentation, resize, mixing and outliers), [model], and held_out
/// ("validation" or "test") of [task]. If there are validation images, the default of held_out is validation.
ImageClassificationOptions read_image_classification_options(const config::View& root,
                                                             data::DataRoot data_root = data::DataRoot::required);

/// Whether mean and deviation are unknown, so that they must be computed from the training images.
bool takes_training_statistics(const ImageClassificationOptions& options);

/// Returns the shape of the images on which a model was trained; empty if only the image files determine it.
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
  /// Returns the facts about the training data that the model needs and the recipe does not have: the class names, and
  /// the mean, deviation and size of the training images (image_statistics.h).
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
  /// Replaces the model. If the recipe lacks the class names, the mean, the deviation or the size of images, takes them
  /// from the manifest.
  void replace_model(const runtime::ExportManifest& manifest, MakeSession make) override;

 private:
  ImageClassificationOptions options_;
};

}  // namespace cachet::tasks
