#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_loader.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/nn/base/not_replayable.h"
#include "cachet/tasks/analyses/shows_samples.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/image_classification/image_classification_plan.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Image classification with soft targets (mixup, cutmix, label smoothing).
class ImageClassification : public ClassificationTask, public ShowsSamples {
 public:
  /// Opens the data of the task and builds its model. Throws io::Error if data cannot be read, std::invalid_argument if
  /// the images do not fit the model.
  ImageClassification(const ImageClassificationPlan& plan, const train::TrainOptions& training,
                      Splits splits = Splits::both);

  std::map<std::string, data::DataDigest> data_digests() const override;
  std::map<std::string, std::string> data_fingerprints() const override;
  std::map<std::string, const data::ImageSource*> image_sources() const override;
  EvaluationFiles evaluation_files() const override { return {.faults = test_->images().file_faults()}; }
  std::string sample_digest(int64_t index) override { return test_->sample_digest(index); }
  std::vector<std::string> data_notes() const override;
  std::vector<std::string> take_data_faults() override { return bad_images_.notes->take_new(); }
  void add_data_fault(const std::string& fault) override { bad_images_.notes->add(fault); }
  std::optional<std::string> why_not_replayed() override { return nn::why_not_replayed(model()); }
  int64_t batches_per_epoch() const override { return training_loader_->batches(); }
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override;
  int64_t evaluation_size() const override { return test_->size(); }
  EvaluatedSamples evaluated_samples() const override { return {test_->size(), test_->split_size()}; }
  int64_t evaluation_batches() const override { return test_loader_->batches(); }
  const std::vector<std::string>& class_names() const override {
    return options_.exported_numbers.empty() ? test_->labels().class_names() : options_.exported_numbers;
  }
  bool lacks_class_names() const override { return lacks_class_names_; }
  void classify_in_order(int64_t first, const UseBatch& use) override;
  SampleForm sample_form() const override { return SampleForm::image_file; }
  std::unique_ptr<PreparedSample> prepare_given(const std::string& file) override;
  std::vector<std::string> notes_on_given() const override { return given_notes_.lines(); }
  at::Tensor classify_given(const PreparedSamples& samples) override;
  ShownSample run_over(int64_t index) override;
  std::optional<int64_t> class_of(int64_t index) const override { return test_->labels()[index]; }

  std::optional<runtime::ImagePreparation> image_preparation() const override;

  models::ImageClassifier& classifier() { return *model_; }
  const data::LabelledImages& test_images() const { return *test_; }
  const std::shared_ptr<const data::LabelledImages>& training_images() const { return training_; }
  const data::Normalization& normalization() const { return normalization_; }
  const data::ImageTransform& evaluation_transform() const { return test_loader_->transform(); }

 protected:
  std::vector<report::Block> training_samples() const override;
  std::vector<report::Block> evaluation_samples(const ClassificationEvaluation& evaluation) const override;

 private:
  /// Returns the logits (B, classes), float32 on the CPU, of images (B, channels, height, width).
  at::Tensor logits_of(at::Tensor images);

  ImageClassificationOptions options_;
  train::TrainOptions training_options_;
  std::shared_ptr<const data::LabelledImages> training_, test_;
  std::string validation_indices_;  // digest of the indices of the training images that validate, or empty
  data::Normalization normalization_;
  std::optional<data::ImageLoader> training_loader_, test_loader_;
  std::shared_ptr<models::ImageClassifier> model_;
  data::ImageFileNotes given_notes_;
  data::BadImageOptions bad_images_;
  bool lacks_class_names_ = false;
};

}  // namespace cachet::tasks
