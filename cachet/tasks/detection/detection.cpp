#include "cachet/tasks/detection/detection.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

#include "cachet/data/fingerprint.h"
#include "cachet/data/order/grouped_batches.h"
#include "cachet/geometry/mask_transforms.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/png.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/detection/heads/mask_pasting.h"
#include "cachet/report/text/progress.h"
#include "cachet/tasks/detection/annotated_picture.h"
#include "cachet/tasks/detection/detection_training_batches.h"
#include "cachet/tasks/detection/synthetic_scenes.h"
#include "cachet/tasks/detection/training_scenes.h"
#include "cachet/tasks/samples/records.h"
#include "cachet/train/machine/device.h"

namespace cachet::tasks {
namespace {

constexpr int64_t kWindowBatches = 16;

using geometry::RunLengths;
using geometry::Size;

RunLengths pasted(const at::Tensor& scores, const at::Tensor& box, const Size& image) {
  const models::PastedMask part = models::paste_mask(scores, box, {image.height, image.width});
  if (part.mask.numel() == 0) return geometry::RunBuilder(image).finish();
  const at::Tensor bits = part.mask.contiguous();
  const auto* pixels = reinterpret_cast<const uint8_t*>(bits.const_data_ptr<bool>());
  const RunLengths mask =
      RunLengths::of_bitmap({bits.size(0), bits.size(1)}, {pixels, static_cast<size_t>(bits.numel())});
  return windowed(mask, -part.y, -part.x, image);
}

std::vector<FoundObject> found_objects(const models::Detections& found, const Size& image) {
  const at::Tensor boxes = found.boxes.to(at::kDouble).cpu().contiguous();
  const at::Tensor scores = found.scores.to(at::kDouble).cpu().contiguous(), labels = found.labels.cpu().contiguous();
  const at::Tensor masks = found.mask_scores.defined() ? found.mask_scores.to(at::kFloat).cpu() : at::Tensor();
  std::vector<FoundObject> objects;
  for (int64_t i = 0; i < boxes.size(0); ++i) {
    const double* box = boxes.const_data_ptr<double>() + 4 * i;
    FoundObject object{labels.const_data_ptr<int64_t>()[i],
                       scores.const_data_ptr<double>()[i],
                       {box[0], box[1], box[2], box[3]},
                       std::nullopt};
    if (masks.defined()) object.mask = pasted(masks[i], boxes[i].to(at::kFloat), image);
    objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<FoundObject> shown_truth(const data::DetectionSet& set, int64_t index) {
  std::vector<FoundObject> objects;
  for (const data::CocoAnnotation& annotation : set.annotations(index))
    objects.push_back({annotation.category, 1, corners(annotation.box), set.instances().mask(annotation)});
  return objects;
}

// Lines for the user.
std::vector<std::string> why_not_measured(const data::DetectionSet& set) {
  const data::CocoInstances& instances = set.instances();
  if (!instances.has_annotations())
    return {instances.name() +
            ": has no 'annotations', so AP cannot be measured; `eval -o FOLDER` writes results for "
            "submission"};
  if (!set.has_objects())
    return {instances.name() + ": has no object of the model's classes, so AP cannot be measured"};
  return {};
}

void update(io::Sha256& hash, std::string_view text) {
  const uint64_t size = text.size();
  hash.update(std::as_bytes(std::span(&size, 1)));
  hash.update(std::as_bytes(std::span(text)));
}

}  // namespace

Detection::Detection(const DetectionPlan& plan, const train::TrainOptions& training, Splits splits)
    : Task(plan.profile()), options_(plan.options()), training_options_(training), bad_images_(data::skipped_images()) {
  plain_.emplace(options_.transform.for_evaluation(), options_.normalization);
  const bool synthetic = splits == Splits::synthetic;
  const auto open = [&](DetectionSplit split, int64_t limit) {
    return open_detection_split(options_, split, limit, splits == Splits::both ? &validation_indices_ : nullptr);
  };
  // Given images need of the data what a run keeps of its classes, and parsing all of COCO takes seconds.
  const bool alone = splits == Splits::given && (plan.absent_data() || !options_.category_ids.empty());
  if (synthetic) {
    synthetic_scenes_ = std::make_unique<SyntheticScenes>(options_, 2 * training.shared_batch());
    training_ = synthetic_scenes_->set();
    validation_ = training_->subset({0});
  } else if (!alone) {
    const int64_t limit = options_.subset.limit, evaluated = options_.evaluation_limit.value_or(limit);
    if (options_.on_training && splits != Splits::calibration) {
      validation_ = open(DetectionSplit::training, evaluated);
      if (splits == Splits::both) training_ = evaluated == limit ? validation_ : open(DetectionSplit::training, limit);
    } else {
      if (splits == Splits::both) training_ = open(DetectionSplit::training, limit);  // first: it must have all classes
      const bool tests = options_.held_out == data::Split::test;
      validation_ = open(splits == Splits::calibration ? DetectionSplit::training_evaluated
                         : tests                       ? DetectionSplit::test
                                                       : DetectionSplit::validation,
                         evaluated);
    }
    if (training_ && !validation_->instances().has_annotations())
      throw io::Error(validation_->instances().name() +
                      ": has no 'annotations' to evaluate with during training; data.validation_annotations must name "
                      "a file with annotations");
    if (training_ && training_->class_names() != validation_->class_names())
      throw std::invalid_argument(validation_->instances().name() + ": has other categories than " +
                                  training_->instances().name() +
                                  ", or the same categories in another order; list their names in data.class_names");
  }
  class_names_ = validation_ ? validation_->class_names() : options_.class_names;
  for (int64_t i = static_cast<int64_t>(class_names_.size()); i < options_.classes; ++i)
    class_names_.push_back("class " + std::to_string(i));
  if (!synthetic) {
    if (training_) note(training_->notes());
    if (validation_ && validation_ != training_) note(validation_->notes());
    if (validation_ && !training_ && options_.class_names.empty())
      note(
          {"the model does not store the names of its classes. Its classes are matched by position with the categories "
           "of " +
           validation_->instances().name() +
           ", which is wrong if the model was trained with other categories; set data.class_names to name the "
           "classes"});
    if (validation_) note(why_not_measured(*validation_));
  }
  if (validation_) {
    validation_order_ = std::make_shared<data::GroupedBatches>(
        data::padded_sizes(*validation_, options_.transform, window()),
        data::GroupedBatchOptions{training.batch_size, /*shuffle=*/false, /*drop_last=*/false, 0});
    validation_loader_.emplace(validation_, *plain_, validation_order_, options_.on_bad_image, data::skipped_images(),
                               options_.loader);
  }
  if (training_) {
    training_loader_.emplace(
        training_, data::DetectionTransform(options_.transform, options_.normalization),
        std::make_shared<data::GroupedBatches>(
            data::orientations(*training_),
            data::GroupedBatchOptions{training.shared_batch(), /*shuffle=*/true, /*drop_last=*/true, training.seed},
            training.shard),
        options_.on_bad_image, bad_images_, options_.loader);
  }
  model_ = options_.model.build();
}

std::map<std::string, data::DataDigest> Detection::data_digests() const {
  std::map<std::string, data::DataDigest> digests;
  if (training_) digests["training"] = training_->digest();
  if (validation_) digests["evaluation"] = validation_->digest();
  if (!validation_indices_.empty()) digests[kValidationIndices] = {.contents = validation_indices_};
  return digests;
}

std::map<std::string, const data::ImageSource*> Detection::image_sources() const {
  std::map<std::string, const data::ImageSource*> sources;
  if (training_) sources["training"] = &training_->files();
  if (validation_) sources["evaluation"] = &validation_->files();
  return sources;
}

EvaluationFiles Detection::evaluation_files() const {
  return {.faults = validation_->file_faults(),
          .setting_to_skip = "data.on_bad_image = \"skip\"",
          .skips = options_.on_bad_image == data::OnBadImage::skip};
}

std::map<std::string, std::string> Detection::data_fingerprints() const {
  std::map<std::string, std::string> fingerprints;
  if (training_) fingerprints["training"] = training_->fingerprint();
  if (validation_) fingerprints["evaluation"] = validation_->fingerprint();
  return fingerprints;
}

std::string Detection::earlier_digest(int64_t index) {
  const int64_t size = training_options_.batch_size, first = index / size * size;
  data::Fingerprint batch;
  batch.add(index - first);
  for (int64_t i = first; i < std::min(first + size, validation_->size()); ++i)
    batch.add(validation_->sample_digest(i));
  return batch.text();
}

std::vector<std::string> Detection::data_notes() const {
  std::vector<std::string> notes = Task::data_notes();
  std::ranges::copy(bad_images_->lines(), std::back_inserter(notes));
  for (const auto& set : {training_, validation_})
    if (set) std::ranges::copy(set->image_notes(), std::back_inserter(notes));
  return notes;
}

std::unique_ptr<train::TrainingBatches> Detection::training_batches(int64_t epoch, int64_t first_batch) {
  return detection_batches(*model_, training_loader_->iterate(epoch, first_batch),
                           {.multiple = options_.transform.multiple,
                            .seed = training_options_.seed,
                            .first_batch = epoch * training_loader_->batches() / training_options_.shard.parts,
                            .divisor = options_.divisor,
                            .joint = training_options_.shard.world_size > 1 && !training_options_.has_parts()});
}

int64_t Detection::window() const { return kWindowBatches * training_options_.batch_size; }

int64_t Detection::first_batch_of_window(int64_t index) const {
  const int64_t first = index / window() * window();
  const data::EpochOrder order = validation_order_->epoch(0);
  int64_t number = 0;
  while (number < order.batches() && order.place(number).samples.front().index < first) ++number;
  return number;
}

std::vector<std::vector<FoundObject>> Detection::detect(const data::DetectionBatch& batch) {
  if (batch.samples.empty()) return {};
  std::vector<models::DetectionImage> sizes;
  for (const data::DetectionSample& sample : batch.samples)
    sizes.push_back(place_of(sample, options_.transform.multiple));
  at::Tensor images = batch.images;
  train::move_to(train::device_of(*model_), {&images});
  const std::vector<models::Detections> found = model_->detect(images, sizes);
  std::vector<std::vector<FoundObject>> objects;
  for (size_t i = 0; i < found.size(); ++i) objects.push_back(found_objects(found[i], batch.samples[i].original));
  return objects;
}

std::vector<metrics::TrueObject> Detection::true_objects(int64_t index) const {
  std::vector<metrics::TrueObject> truths;
  for (const data::CocoAnnotation& annotation : validation_->annotations(index)) {
    metrics::TrueObject truth{
        .category = annotation.category, .box = annotation.box, .area = annotation.area, .crowd = annotation.crowd};
    if (options_.model.masks) truth.mask = validation_->instances().mask(annotation);
    truths.push_back(std::move(truth));
  }
  return truths;
}

// Records are read back before they count, those of this process too: where an evaluation was cut changes no bit.
class Detection::Evaluation {
 public:
  explicit Evaluation(Detection& task) : task_(task), tally_(task.options_.classes, task.options_.model.masks) {}

  void add(const Record& record) {
    const FoundObjects found = read_found_objects(record, task_.options_.classes);
    const data::DetectionSet& set = *task_.validation_;
    const auto is_of_image = [&](const FoundObject& object) {
      return !object.mask || object.mask->size() == set.image(images_).size;
    };
    if (found.index != images_ || found.index >= set.size() || found.image_id != set.image(found.index).id ||
        !std::all_of(found.objects.begin(), found.objects.end(), is_of_image))
      throw std::runtime_error("record " + std::to_string(images_) + " does not belong to image " +
                               std::to_string(images_) + " of the evaluation");
    tally_.add(found.index, *found.image_id, task_.true_objects(found.index), found.objects);
    if (!found.problem.empty() && unreadable_++ == 0) first_unreadable_ = found.problem;
    ++images_;
  }
  int64_t images() const { return images_; }

  train::Metrics finish() {
    if (images_ != task_.validation_->size())
      throw std::runtime_error("the evaluation is incomplete: there are records of " + std::to_string(images_) +
                               " of " + std::to_string(task_.validation_->size()) + " images");
    if (unreadable_ == images_ && images_ > 0)
      throw std::runtime_error("none of the " + std::to_string(images_) +
                               " images of the evaluation could be read; the first: " + first_unreadable_);
    if (unreadable_ > 0) {
      report::Progress log({.mode = report::ProgressMode::none});
      log.log(std::to_string(unreadable_) + " of " + std::to_string(images_) +
              " images could not be read, and their objects count as missed; the first: " + first_unreadable_);
    }
    task_.evaluation_ = tally_.finish();
    task_.evaluation_.unreadable = unreadable_;
    return task_.evaluation_.metrics();
  }

 private:
  Detection& task_;
  DetectionTally tally_;
  int64_t images_ = 0, unreadable_ = 0;
  std::string first_unreadable_;
};

std::string Detection::evaluation_source() {
  io::Sha256 hash;
  for (const auto& [name, tensor] : io::state_dict(*model_)) {
    const at::Tensor whole = tensor.cpu().contiguous();
    update(hash, name);
    update(hash, {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
  }
  update(hash, validation_->digest().contents);
  update(hash, std::to_string(validation_->size()) + " " + std::to_string(training_options_.batch_size));
  return io::hex(hash.finish()).substr(0, 16);
}

train::Metrics Detection::evaluate(const train::EvaluationProgress& progress) {
  Evaluation evaluation(*this);
  const auto add = [&](const Record& record) {
    evaluation.add(record);
    const int64_t images = evaluation.images(), all = validation_->size();
    if (images % training_options_.batch_size == 0 || images == all) progress(images, all);
  };
  if (saved_evaluation_.empty()) {
    answer_evaluation(0, {}, add);
    return evaluation.finish();
  }
  validation_->files().keep_digests();
  const std::string source = evaluation_source();
  const auto origin = [&](int64_t index) { return RecordOrigin{source, record_digest(index)}; };
  RecordFile kept = records_of(saved_evaluation_, origin);
  const NextRecord earlier = records_in(saved_evaluation_, kept.done());
  while (const auto record = earlier()) add(*record);
  answer_evaluation(kept.done(), {}, [&](const Record& record) {
    kept.append(record, origin(evaluation.images()));
    add(record);
  });
  return evaluation.finish();
}

train::Metrics Detection::evaluate_records(const NextRecord& next) {
  Evaluation evaluation(*this);
  while (const auto record = next()) evaluation.add(*record);
  return evaluation.finish();
}

void Detection::restore_evaluation(const std::string& details) {
  if (auto evaluation = detection_evaluation_from_json(details, options_.classes)) evaluation_ = *std::move(evaluation);
}

data::DetectionBatch Detection::shown(at::Tensor pixels) const {
  return data::collate({plain_->apply(std::move(pixels), {}, plain_->draw({}))}, options_.transform.multiple);
}

ShownSample Detection::run_over(int64_t index) {
  const at::NoGradGuard no_grad;
  const data::DetectionBatch batch = shown(validation_->pixels(index));
  detect(batch);
  return {.picture = data::pixels_of_normalized(batch.images[0], options_.normalization),
          .name = validation_->image(index).file_name};
}

std::vector<report::Picture> Detection::pictures(const std::vector<ShownImage>& images) const {
  std::vector<report::Picture> all;
  const AnnotationStyle style{.least_score = kShownScore, .scores = true, .least_side = 256, .most_side = 480};
  for (const ShownImage& image : images) {
    if (!validation_ || image.index < 0 || image.index >= validation_->size()) continue;
    try {
      const at::Tensor pixels = validation_->pixels(image.index);
      AnnotationStyle of_truth = style;
      of_truth.scores = false;
      const auto png = io::encode_png(
          side_by_side(annotated_picture(pixels, shown_truth(*validation_, image.index), class_names_, of_truth),
                       annotated_picture(pixels, image.found, class_names_, style)));
      const std::string name = validation_->image(image.index).file_name;
      all.push_back({std::string(reinterpret_cast<const char*>(png.data()), png.size()), name, name, image.agreement});
    } catch (const io::Error&) {  // skipped in the evaluation, too
    }
  }
  return all;
}

std::vector<report::Block> Detection::training_samples() const {
  if (!training_loader_) return {};
  report::ImageGrid grid = training_scenes(*training_loader_, options_.normalization, class_names_);
  if (grid.pictures.empty()) return {};
  return {std::move(grid)};
}

std::vector<report::Section> Detection::evaluation_sections() const {
  if (evaluation_.images == 0) return {};
  report::Section section{"Objects", detection_blocks(evaluation_, class_names_), ""};
  const char* note = "Left: the true objects. Right: the detections. Below: how well both agree (F1).";
  for (const auto& [title, images] :
       {std::pair{"Worst images", &evaluation_.worst}, {"Best images", &evaluation_.best}}) {
    auto shown = pictures(*images);
    if (!shown.empty())
      section.blocks.push_back(report::ImageGrid{title, std::move(shown), note, report::PictureSize::scenes});
  }
  return {section};
}

}  // namespace cachet::tasks
