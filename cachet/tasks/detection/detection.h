#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/analyses/shows_samples.h"
#include "cachet/tasks/detection/coco_table.h"
#include "cachet/tasks/detection/detection_evaluation.h"
#include "cachet/tasks/detection/detection_plan.h"
#include "cachet/tasks/detection/found_object.h"
#include "cachet/tasks/detection/synthetic_scenes.h"
#include "cachet/tasks/task.h"
#include "cachet/train/options.h"

namespace cachet::tasks {

/// Object detection: boxes and, if the model has them, masks. The metrics are the numbers of COCO's evaluation,
/// measured on the validation set.
class Detection : public Task,
                  public Predictor,
                  public AnswersEvaluationSamples,
                  public EvaluatesRecords,
                  public DrawsAnswers,
                  public WritesResults,
                  public ShowsSamples,
                  public ExportsRewrittenModel,
                  public TabulatesEvaluation {
 public:
  /// Opens the data and builds the model. Throws io::Error if data cannot be read, and std::invalid_argument if the
  /// data do not fit the model.
  Detection(const DetectionPlan& plan, const train::TrainOptions& training, Splits splits = Splits::both);

  torch::nn::Module& model() override { return *model_; }
  std::vector<std::string> head_modules() const override { return {"neck", "rpn_head", "roi_head", "bbox_head"}; }
  std::map<std::string, data::DataDigest> data_digests() const override;
  std::map<std::string, std::string> data_fingerprints() const override;
  std::map<std::string, const data::ImageSource*> image_sources() const override;
  EvaluationFiles evaluation_files() const override;
  std::vector<std::string> data_notes() const override;
  std::vector<std::string> take_data_faults() override { return bad_images_->take_new(); }
  void add_data_fault(const std::string& fault) override { bad_images_->add(fault); }
  std::optional<std::string> why_not_replayed() override { return "the number of boxes sets the sizes of tensors"; }
  int64_t batches_per_epoch() const override { return training_loader_->batches(); }
  std::unique_ptr<train::TrainingBatches> training_batches(int64_t epoch, int64_t first_batch) override;
  int64_t evaluation_size() const override { return validation_->size(); }
  EvaluatedSamples evaluated_samples() const override { return {validation_->size(), validation_->split_size()}; }
  train::Metrics evaluate(const train::EvaluationProgress& progress) override;
  void keep_evaluations_in(const std::filesystem::path& file) override { saved_evaluation_ = file; }
  std::string evaluation_details() const override { return to_json(evaluation_, class_names_); }
  void restore_evaluation(const std::string& details) override;

  SampleForm sample_form() const override { return SampleForm::image_file; }
  std::unique_ptr<PreparedSample> prepare_given(const std::string& file) override;
  bool ranks_classes() const override { return false; }
  std::vector<std::string> notes_on_given() const override { return given_notes_.lines(); }
  std::vector<Record> answer_given(const PreparedSamples& samples, const AnswerOptions& options) override;
  void answer_evaluation(int64_t first, const AnswerOptions& options, const SeenRecord& seen) override;
  std::string sample_digest(int64_t index) override { return validation_->sample_digest(index); }
  /// Returns a digest of all images in the batch of image `index`. In version 0.1.0, predictions depended on the whole
  /// batch, because each image was padded to the size of the largest one.
  std::string earlier_digest(int64_t index) override;
  int64_t evaluation_records() const override { return evaluation_size(); }
  std::string record_digest(int64_t index) override { return sample_digest(index); }
  /// Passes the records of answer_evaluation() to `seen`.
  void record_evaluation(int64_t first, const SeenRecord& seen) override { answer_evaluation(first, {}, seen); }
  train::Metrics evaluate_records(const NextRecord& next) override;
  std::string picture_of_answer(const PreparedSample& sample, const Record& record, double least_score) override;
  /// Returns the files results.json and images.json of GivenResults.
  std::vector<NamedFile> results_of_given(const NextRecord& next) override;
  /// Returns bbox.json and, if the model predicts masks, segm.json.
  std::vector<NamedFile> results_of_evaluation(const NextRecord& next) override;
  /// Returns COCO's twelve numbers for boxes and for masks, in the format of pycocotools.
  std::string evaluation_table() const override { return coco_table(evaluation_); }
  /// Returns the model's scores of boxes on 16 images.
  ComparedScores compared_scores() override;
  std::string why_no_graph() const override { return "selects boxes by the scores that it has computed"; }
  /// Returns the padded picture that the model gets.
  ShownSample run_over(int64_t index) override;

  const std::vector<std::string>& class_names() const { return class_names_; }

 protected:
  std::vector<report::Block> training_samples() const override;
  std::vector<report::Section> evaluation_sections() const override;

 private:
  /// Computes the results of an evaluation from the records of its images, in the order of the images.
  class Evaluation;
  std::vector<std::vector<FoundObject>> detect(const data::DetectionBatch& batch);
  /// Returns the number of images in a window of the evaluation. A window consists of consecutive images, which are
  /// sorted by size and cut into batches. The evaluation finishes one window before it begins the next.
  int64_t window() const;
  /// Returns the number of the first batch in the window (see window()) to which image `index` belongs.
  int64_t first_batch_of_window(int64_t index) const;
  /// Returns a batch with one image, prepared for the model. `pixels` is the image (H, W, 3).
  data::DetectionBatch shown(at::Tensor pixels) const;
  std::vector<metrics::TrueObject> true_objects(int64_t index) const;
  std::vector<int64_t> category_ids() const;
  std::string evaluation_source();
  std::vector<report::Picture> pictures(const std::vector<ShownImage>& images) const;

  DetectionOptions options_;
  train::TrainOptions training_options_;
  std::vector<std::string> class_names_;
  std::unique_ptr<SyntheticScenes> synthetic_scenes_;
  std::shared_ptr<const data::DetectionSet> training_, validation_;
  std::string validation_indices_;  // digest of the indices of the training images that validate, or empty
  std::shared_ptr<data::ImageNotes> bad_images_;
  data::ImageFileNotes given_notes_;
  std::optional<data::DetectionTransform> plain_;
  std::optional<data::DetectionLoader> training_loader_, validation_loader_;
  std::shared_ptr<const data::BatchOrder> validation_order_;
  std::shared_ptr<models::ObjectDetector> model_;
  DetectionEvaluation evaluation_;
  std::filesystem::path saved_evaluation_;  // file in which evaluations save records; empty: not saved
};

}  // namespace cachet::tasks
