#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cachet/data/loader.h"
#include "cachet/data/subset.h"
#include "cachet/data/vision/coco/detection_loader.h"
#include "cachet/data/vision/coco/detection_set.h"
#include "cachet/data/vision/coco/detection_transform.h"
#include "cachet/data/vision/dataset_options.h"
#include "cachet/data/vision/pixels/pixel_normalization.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/tasks/detection/detection_training_batches.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/tasks/task_kinds.h"

namespace cachet::tasks {

/// A file of annotated instances and the folder of its images, as paths relative to data.root.
struct DetectionFiles {
  std::filesystem::path annotations{}, images{};
};

/// The options of a detection recipe that belong to the model and not to a data set.
struct DetectorOptions {
  int64_t classes = 80;
  std::vector<std::string> class_names{};  // empty: the categories of the annotation file, in its order
  std::vector<int64_t> category_ids{};     // ids in files of results; empty: ids of the current file, or 1, 2, …
  /// If the recipe sets neither class_names nor other_categories, the run stores `refuse`. Evaluations of the run then
  /// refuse data with an object whose category is not one of the run's classes.
  std::optional<data::OtherCategories> other_categories{};  // the option of this name in DetectionSetOptions
  data::DetectionTransformOptions transform{};
  io::OrientationRule orientation = io::OrientationRule::apply;
  data::Normalization normalization{};
  models::ObjectDetectorPlan model{};
};

/// Reads [model] and, from [data], classes, class_names, category_ids, other_categories, orientation and the tables
/// transform and normalization.
DetectorOptions read_detector_options(const config::View& root);

/// Return the preparation of an image in evaluation: "turned upright, as large as fits in 1333 x 800 (bilinear), padded
/// to multiples of 32, mean …, deviation …", and {"orientation":"apply","long_side":1333,"short_side":800,
/// "pad_multiple":32,"interpolation":"bilinear","mean":[…],"std":[…]}.
std::string preparation_text(const DetectorOptions& options);
std::string preparation_json(const DetectorOptions& options);

/// The tables [task], [data] and [model] of a detection recipe, which do not include its training options.
struct DetectionOptions : DetectorOptions {
  std::filesystem::path root{};
  DetectionFiles training{"annotations/instances_train.json", "images/train"};
  DetectionFiles validation{"annotations/instances_val.json", "images/val"};
  data::EmptyImages empty_images = data::EmptyImages::leave_out;
  DetectionFiles test{};           // empty: the files of validation are also the test data
  double validation_fraction = 0;  // fraction of training images that validate; if above 0, `validation` is test data
  data::Split held_out = data::Split::validation;  // split to evaluate: in training, or (set by build()) in a test
  bool on_training = false;  // key `evaluate_on`: whether the training images are evaluated, by the rules of training
  bool strict_images = false;
  data::OnBadImage on_bad_image = data::OnBadImage::stop;
  data::SubsetOptions subset{};  // subset of the training images; its limit also applies to the validation images
  LossDivisor divisor = LossDivisor::step;
  std::optional<int64_t> evaluation_limit{};  // number of images that are evaluated, instead of subset.limit
  data::LoaderOptions loader{};
};

/// Whether the test images differ from the validation images.
bool has_own_test(const DetectionOptions& options);

/// Reads a recipe: loss_divisor and held_out ("validation" or "test") of [task], [data] with its tables transform and
/// normalization, and [model].
DetectionOptions read_detection_options(const config::View& root, data::DataRoot data_root = data::DataRoot::required);

class DetectionPlan : public TaskPlan, public TakesRewrittenModel {
 public:
  explicit DetectionPlan(DetectionOptions options) : options_(std::move(options)) {}

  const DetectionOptions& options() const { return options_; }

  std::unique_ptr<TaskPlan> copy() const override { return std::make_unique<DetectionPlan>(*this); }
  TaskProfile profile() const override;
  std::vector<DataPlace> data() const override;
  std::optional<std::string> absent_data() const override;
  DataLook look_at_data(const data::LookProgress& progress) const override;
  /// If the recipe takes the class names from the annotation file, returns these names, so that the run stores them.
  SavedFiles files_to_keep() const override;
  std::vector<std::string> class_name_settings() const override;
  std::optional<int64_t> data_limit() const override { return options_.subset.limit; }
  void limit_evaluation(int64_t limit) override { options_.evaluation_limit = limit; }
  void evaluate_all() override;
  std::optional<uint64_t> seed_of_samples() const override { return options_.subset.seed; }
  void reduce() override { options_.loader.workers = 0; }
  int64_t batches_ahead() const override { return options_.loader.workers * options_.loader.prefetch; }
  void enlarge_samples() override { options_.transform = options_.transform.for_evaluation(); }
  std::unique_ptr<Task> build(const train::TrainOptions& training, Splits splits) const override;
  void replace_model(std::function<std::shared_ptr<models::Model>()> make) override;

 private:
  DetectionOptions options_;
};

/// Returns the folder of data.root. Throws io::Error.
std::filesystem::path find_detection_root(const DetectionOptions& options);

/// A split, and the use of its images: for training, or for evaluation.
enum class DetectionSplit { training, training_evaluated, validation, test };

/// Opens a split with at most `limit` images (0: any number). The training split follows the recipe's rules for
/// training images, and has only a fraction of the images (data.fraction). Writes to `indices` a digest of the indices
/// of the images that data.validation_fraction selects. Throws io::Error if files cannot be read or lack classes, and
/// std::invalid_argument if the number of classes differs from the model's.
std::shared_ptr<const data::DetectionSet> open_detection_split(const DetectionOptions& options, DetectionSplit split,
                                                               int64_t limit, std::string* indices = nullptr);

}  // namespace cachet::tasks
