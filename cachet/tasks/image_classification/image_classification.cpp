#include "cachet/tasks/image_classification/image_classification.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>

#include "cachet/config/counted.h"
#include "cachet/data/order/equal_batches.h"
#include "cachet/data/order/windowed_batches.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/image_transform.h"
#include "cachet/io/tensors/png.h"
#include "cachet/nn/base/regularizer.h"
#include "cachet/ops/support/finite.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/classification/large_batch.h"
#include "cachet/tasks/image_classification/synthetic_images.h"
#include "cachet/tasks/image_classification/training_pictures.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

runtime::PixelFilter filter_of(data::Interpolation interpolation) {
  switch (interpolation) {
    case data::Interpolation::bilinear:
      return runtime::PixelFilter::bilinear;
    case data::Interpolation::bicubic:
      return runtime::PixelFilter::bicubic;
    case data::Interpolation::lanczos:
      return runtime::PixelFilter::lanczos;
  }
  throw std::logic_error("the runtime has no filter for this interpolation");
}

constexpr int64_t kThumbnailSide = 96;

std::string text_of(int64_t channels, int64_t height, int64_t width) {
  return std::to_string(channels) + " x " + std::to_string(height) + " x " + std::to_string(width);
}

void check_fit(const data::ImageTransform& transform, const data::LabelledImages& images,
               const models::ImageClassifierPlan& model) {
  const data::ImageShape shape = transform.output_shape();
  if (shape.channels != model.image.channels || shape.height != model.image.height || shape.width != model.image.width)
    throw std::invalid_argument(
        "the images are " + text_of(shape.channels, shape.height, shape.width) + ", but the model takes " +
        text_of(model.image.channels, model.image.height, model.image.width) +
        " (data.kind selects the images); set data.resize.image_size, or model.image_size and model.channels");
  if (images.labels().classes() != model.classes)
    throw std::invalid_argument("the data have " + config::counted(images.labels().classes(), "class", "classes") +
                                ", but the model has " + std::to_string(model.classes) +
                                "; leave model.classes out to use the number of the data");
}

// The note on a run, a model folder or an export of a version that did not store names. If files have numbers for
// classes, position is right, and there is no note.
constexpr const char* kMatchedByPosition =
    "the model does not store the names of its classes. Its classes are matched by position with the sorted names of "
    "the "
    "class folders, which is wrong if the model was trained with other folders; set data.class_names to name the "
    "classes";

// The note on given images, if neither the run nor files have the size of its training images.
constexpr const char* kSizeUnknown =
    "the size of the training images is not known, because the data are absent. Each image is resized directly to the "
    "model's input size; set data.stored_size to give the size of the training images";

data::ImageShape input_shape(const models::ImageClassifierPlan& model) {
  return {model.image.channels, model.image.height, model.image.width};
}

std::shared_ptr<const data::BatchOrder> training_order(const data::LabelledImages& images, int64_t window,
                                                       const data::EqualBatchOptions& options,
                                                       const data::Shard& shard) {
  std::vector<int64_t> shard_sizes = images.images().shard_sizes();
  if (shard_sizes.empty()) return std::make_shared<data::EqualBatches>(images.size(), options, shard);
  return std::make_shared<data::WindowedBatches>(std::move(shard_sizes), window, options, shard);
}

// A line of text for each so many files: looking through millions of them takes minutes on some disks.
data::IndexProgress said_now_and_then() {
  return [said = int64_t{0}](int64_t files) mutable {
    constexpr int64_t kFilesALine = 200'000;
    if (files < said + kFilesALine) return;
    said = files;
    report::Progress({.mode = report::ProgressMode::none}).log("found " + std::to_string(files) + " images so far");
  };
}

std::vector<report::Picture> pictures(const std::vector<ClassifiedSample>& images, const data::LabelledImages& dataset,
                                      const std::vector<std::string>& names) {
  std::vector<report::Picture> all;
  for (const ClassifiedSample& image : images) {
    const auto png = io::encode_png(data::thumbnail(dataset.images(), image.index, kThumbnailSide));
    all.push_back({std::string(reinterpret_cast<const char*>(png.data()), png.size()),
                   names.at(static_cast<size_t>(image.label)), names.at(static_cast<size_t>(image.predicted)),
                   image.probability});
  }
  return all;
}

/// The samples of a batch that were skipped, in ascending order of their indices.
std::vector<SkippedSample> skipped_samples(const data::ImageBatch& batch, const data::ClassLabels& labels) {
  std::vector<SkippedSample> skipped;
  for (const auto& [index, problem] : batch.skipped) skipped.push_back({index, labels[index], problem});
  return skipped;
}

struct PreparedImage : PreparedSample {
  at::Tensor image;  // (1, channels, height, width)
};

class ImageTrainingBatches : public train::TrainingBatches {
 public:
  ImageTrainingBatches(models::ImageClassifier& model, data::BatchIterator<data::ImageBatch> batches,
                       const ImageClassificationOptions& options, uint64_t seed, int64_t epoch, bool alone)
      : model_(model), batches_(std::move(batches)), options_(options), seed_(seed), epoch_(epoch), alone_(alone) {}

  bool fetch() override {
    batch_ = batches_.next();
    return batch_.has_value();
  }

  bool has_samples() const override { return batch_->labels.numel() > 0; }

  void prepare() override {
    train::move_to(train::device_of(model_), {&batch_->images, &batch_->labels});
    mixed_ = {};
    if (is_empty()) return;
    mixed_ = data::mix_batch(batch_->images, batch_->labels, model_.classes(), options_.mixing, seed_, epoch_,
                             batch_->number);
    mixed_.images = nn::with_outliers(mixed_.images, 1, options_.outliers);
  }

  std::optional<train::PreparedBatch> prepared() override {
    if (is_empty()) return train::PreparedBatch{{}, /*weight=*/0, /*samples=*/0, /*tokens=*/0, {0}};
    return prepared_classification({&mixed_.images, &mixed_.targets}, mixed_.targets);
  }

  train::ForwardResult forward() override {
    if (is_empty()) return without_images();
    return classification_step(model_, model_.forward(mixed_.images), mixed_.targets);
  }

 private:
  /// Whether all images of the whole batch were skipped. With several processes, another process may have images, and
  /// this process takes part in their sums over the batch.
  bool is_empty() const { return alone_ && !has_samples() && !batch_->skipped.empty(); }

  /// A step of weight 0.
  train::ForwardResult without_images() const {
    train::ForwardResult result;
    result.loss = at::zeros({}, batch_->images.options()).requires_grad_(true) * 0;
    result.penalty = nn::total_penalty(model_);
    result.metrics.push_back({"top1", at::zeros({}, batch_->images.options()), /*count=*/0});
    return result;
  }

  models::ImageClassifier& model_;
  data::BatchIterator<data::ImageBatch> batches_;
  const ImageClassificationOptions& options_;
  uint64_t seed_;
  int64_t epoch_;
  bool alone_;  // whether this process has the whole batch
  std::optional<data::ImageBatch> batch_;
  data::MixedBatch mixed_;
};

}  // namespace

ImageClassification::ImageClassification(const ImageClassificationPlan& plan, const train::TrainOptions& training,
                                         Splits splits)
    : ClassificationTask(plan.profile()),
      options_(plan.options()),
      training_options_(training),
      bad_images_{options_.dataset.on_bad_image, /*has_key=*/options_.dataset.kind->has_shards} {
  const ImageClassificationOptions& options = options_;
  // If the model has no names for its classes, or only the files have the size of its training images, given
  // images need the data.
  const bool names_classes = !options.dataset.class_names.empty();
  const bool absent = plan.absent_data().has_value();
  const bool knows_names = names_classes || !options.dataset.own_sizes();
  const auto shape = trained_shape(options);
  const bool alone = splits == Splits::given && (absent || options.is_exported || (knows_names && shape));
  const auto open = [&](data::Split split, const data::DatasetOptions& dataset) {
    if (alone && split != data::Split::train)
      return data::without_images(dataset, options.model.classes, shape.value_or(input_shape(options.model)));
    if (splits == Splits::synthetic)
      return std::shared_ptr<const data::LabelledImages>(std::make_shared<data::LabelledImages>(synthetic_images(
          options.model, split == data::Split::train ? training.shared_batch() * 2 : training.batch_size)));
    auto images = data::open_dataset(dataset, split, std::filesystem::current_path(), said_now_and_then());
    if (images->passed_over() && (split != data::Split::validation || options.dataset.validation_fraction == 0)) {
      if (auto line = images->passed_over()->note()) note({*std::move(line)});
    }
    return images;
  };
  data::DatasetOptions evaluated = options.dataset;
  evaluated.limit = options.evaluation_limit.value_or(evaluated.limit);
  test_ = open(splits == Splits::calibration ? data::Split::train : options.held_out, evaluated);
  if (splits == Splits::both)
    validation_indices_ = data::digest_of_validation_indices(options.dataset, std::filesystem::current_path());
  lacks_class_names_ = alone && !knows_names;
  if (alone && !shape && options.resize.image_size.given()) note({kSizeUnknown});
  const bool of_saved = splits == Splits::test || (splits == Splits::given && !alone);
  if (of_saved && !names_classes && options.dataset.kind->has_class_folders) note({kMatchedByPosition});
  const bool trains = splits == Splits::both || splits == Splits::synthetic;
  if (trains || takes_training_statistics(options)) training_ = open(data::Split::train, options.dataset);
  normalization_ = data::make_normalization(options.normalization, *options.dataset.kind,
                                            (training_ ? *training_ : *test_).images());

  const auto plain = data::ImageTransform::for_evaluation(test_->images().shape(), normalization_, options.resize);
  check_fit(plain, *test_, options.model);
  test_loader_.emplace(test_, plain,
                       std::make_shared<data::EqualBatches>(
                           test_->size(), data::EqualBatchOptions{training.batch_size, false, false, 0}),
                       options.loader, bad_images_);
  if (trains) {
    const data::ImageTransform augmented(training_->images().shape(), normalization_, options.augmentation,
                                         options.resize);
    training_loader_.emplace(training_, augmented,
                             training_order(*training_, options.dataset.shards.window,
                                            data::EqualBatchOptions{training.shared_batch(), true, true, training.seed,
                                                                    options.repeated_augmentation},
                                            training.shard),
                             options.loader, bad_images_);
    if (training_loader_->batches() == 0)
      throw std::invalid_argument(
          large_batch_text(training, training_->size(), options.dataset, "training image", "training images"));
  }
  model_ = options.model.build();
  set_model(model_);
}

std::unique_ptr<train::TrainingBatches> ImageClassification::training_batches(int64_t epoch, int64_t first_batch) {
  return std::make_unique<ImageTrainingBatches>(*model_, training_loader_->iterate(epoch, first_batch), options_,
                                                training_options_.seed, epoch,
                                                training_options_.shard.all_parts() == 1);
}

at::Tensor ImageClassification::logits_of(at::Tensor images) {
  train::move_to(train::device_of(*model_), {&images});
  const std::vector<at::Tensor> outputs =
      inference().run("logits", {&images}, [&] { return std::vector{model_->forward(images)}; });
  const at::Tensor logits = outputs.front().to(at::kFloat).cpu();
  ops::require_finite_scores(logits);
  return logits;
}

void ImageClassification::classify_in_order(int64_t first, const UseBatch& use) {
  const at::NoGradGuard no_grad;
  const int64_t size = training_options_.batch_size;
  auto batches = test_loader_->iterate(/*epoch=*/0, first / size);
  while (auto batch = batches.next()) {
    const at::Tensor logits =
        batch->indices.empty() ? at::empty({0, model_->classes()}, at::kFloat) : logits_of(batch->images);
    use({batch->indices,
         batch->labels,
         logits,
         batch->number * size,
         {batch->images},
         skipped_samples(*batch, test_->labels())});
  }
}

std::vector<std::string> ImageClassification::data_notes() const {
  std::vector<std::string> notes = ClassificationTask::data_notes();
  std::ranges::copy(bad_images_.notes->lines(), std::back_inserter(notes));
  for (const auto& images : {training_, test_})
    if (images) std::ranges::copy(images->images().notes(), std::back_inserter(notes));
  return notes;
}

std::unique_ptr<PreparedSample> ImageClassification::prepare_given(const std::string& file) {
  auto prepared = std::make_unique<PreparedImage>();
  prepared->image = test_loader_->transform().of_file(
      file, options_.dataset.orientation, &given_notes_,
      [&](std::span<const std::byte> bytes) { prepared->digest = data::digest_of(bytes); });
  return prepared;
}

at::Tensor ImageClassification::classify_given(const PreparedSamples& samples) {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> images;
  for (const auto& sample : samples) images.push_back(dynamic_cast<const PreparedImage&>(*sample).image);
  return logits_of(at::cat(images));
}

std::map<std::string, data::DataDigest> ImageClassification::data_digests() const {
  std::map<std::string, data::DataDigest> digests{{"evaluation", test_->digest()}};
  if (training_) digests["training"] = training_->digest();
  if (!validation_indices_.empty()) digests[kValidationIndices] = {.contents = validation_indices_};
  return digests;
}

std::map<std::string, const data::ImageSource*> ImageClassification::image_sources() const {
  std::map<std::string, const data::ImageSource*> sources{{"evaluation", &test_->images()}};
  if (training_) sources["training"] = &training_->images();
  return sources;
}

std::map<std::string, std::string> ImageClassification::data_fingerprints() const {
  std::map<std::string, std::string> fingerprints{{"evaluation", test_->fingerprint()}};
  if (training_) fingerprints["training"] = training_->fingerprint();
  return fingerprints;
}

// The picture is what the model sees of the image: its middle, in its size.
ShownSample ImageClassification::run_over(int64_t index) {
  const at::NoGradGuard no_grad;
  const data::ImageTransform& transform = test_loader_->transform();
  const data::ImageShape shape = transform.sample_shape();
  at::Tensor image = at::empty({1, shape.channels, shape.height, shape.width}, at::kFloat);
  transform.apply(test_->images(), index, data::SampleRandom{}, image.mutable_data_ptr<float>());
  image = transform.resize(image);
  at::Tensor input = image;
  train::move_to(train::device_of(*model_), {&input});
  const at::Tensor logits = model_->forward(input);
  ShownSample shown;
  if (shape.channels == 1 || shape.channels == 3) shown.picture = data::pixels_of_normalized(image[0], normalization_);
  shown.name = class_names().at(static_cast<size_t>(test_->labels()[index]));
  shown.answer = class_names().at(static_cast<size_t>(logits.argmax(1).item<int64_t>()));
  return shown;
}

std::optional<runtime::ImagePreparation> ImageClassification::image_preparation() const {
  const data::ImageTransform& transform = test_loader_->transform();
  const data::ImageShape first = trained_shape(options_).value_or(transform.input_shape()),
                         input = transform.output_shape();
  return runtime::ImagePreparation{input.channels,
                                   input.height,
                                   input.width,
                                   first.height,
                                   first.width,
                                   transform.takes_middle(),
                                   options_.resize.crop_fraction,
                                   filter_of(options_.resize.interpolation),
                                   normalization_.mean,
                                   normalization_.std,
                                   options_.dataset.orientation};
}

std::vector<report::Block> ImageClassification::training_samples() const {
  if (!training_loader_) return {};
  report::ImageGrid grid =
      training_pictures(*training_loader_, normalization_, options_.mixing, training_options_.seed);
  if (grid.pictures.empty()) return {};
  if (options_.outliers.probability > 0)
    grid.note +=
        " These images have no outliers yet (data.outliers). Outliers are chosen at random in each training step.";
  return {std::move(grid)};
}

std::vector<report::Block> ImageClassification::evaluation_samples(const ClassificationEvaluation& evaluation) const {
  std::vector<report::Block> blocks;
  if (!evaluation.wrong.empty())
    blocks.push_back(report::ImageGrid{"Wrong", pictures(evaluation.wrong, *test_, class_names()), ""});
  if (!evaluation.right.empty())
    blocks.push_back(report::ImageGrid{"Right", pictures(evaluation.right, *test_, class_names()), ""});
  return blocks;
}

}  // namespace cachet::tasks
