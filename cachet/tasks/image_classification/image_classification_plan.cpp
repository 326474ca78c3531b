#include "cachet/tasks/image_classification/image_classification_plan.h"

#include <array>
#include <filesystem>

#include "cachet/config/toml_text.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/image_overlap.h"
#include "cachet/deploy/session_model.h"
#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/classification/saved_class_names.h"
#include "cachet/tasks/image_classification/image_classification.h"
#include "cachet/tasks/image_classification/image_statistics.h"
#include "cachet/tasks/weights/timm_config.h"

namespace cachet::tasks {
namespace {

constexpr std::array<config::Choice<data::Split>, 2> kHeldOutImages{
    {{"validation", data::Split::validation}, {"test", data::Split::test}}};

/// A recipe without the key has none in its resolved form either: it is the same as before the key existed.
data::Split read_held_out(const config::View& task, const data::DatasetOptions& dataset) {
  const bool validates = data::has_validation_images(dataset);
  data::Split held_out = validates ? data::Split::validation : data::Split::test;
  if (task.has("held_out")) held_out = task.choice("held_out", held_out, kHeldOutImages);
  if (held_out == data::Split::validation && !validates)
    task.problem("held_out", "needs validation images: set data.validation_fraction above 0" +
                                 std::string(dataset.kind->has_class_folders ? ", or data.test_folder"
                                             : dataset.kind->has_shards      ? ", or data.test_shards"
                                                                             : ""));
  if (held_out == data::Split::test && !data::has_test_images(dataset))
    task.problem(task.has("held_out") ? "held_out" : "kind",
                 dataset.kind->has_shards
                     ? "needs test images, but data.validation_shards is data.train_shards; set data.test_shards"
                     : "needs test images, but data.validation_folder is data.train_folder; set data.test_folder");
  return held_out;
}

models::ImageDefaults defaults_of(const data::DatasetOptions& dataset, const data::ResizeOptions& resize) {
  const data::ImageTraits traits = data::image_traits(dataset);
  models::ImageShape image{traits.shape.channels, traits.shape.height, traits.shape.width};
  if (resize.image_size.given()) {
    image.height = resize.image_size.height;
    image.width = resize.image_size.width;
  }
  return {image, traits.classes};
}

}  // namespace

ImageClassificationOptions read_image_classification_options(const config::View& root, data::DataRoot data_root) {
  const config::View data = root.table("data");
  ImageClassificationOptions options;
  options.dataset = data::read_dataset_options(data, data_root);
  options.normalization = data::read_normalization_options(data.table("normalization"));
  options.augmentation = data::read_augmentation_options(data.table("augmentation"), options.dataset.own_sizes());
  options.resize = data::read_resize_options(
      data.table("resize"), options.dataset.own_sizes() ? data::ResizeOptions::of_own_sizes() : data::ResizeOptions());
  if (options.dataset.own_sizes() && options.normalization.source == data::NormalizationSource::data) {
    data.table("normalization")
        .problem("source", "must not be \"data\", because the images have different sizes; set mean and std");
  }
  if (data.has("stored_size")) {
    const auto [height, width] = data.integer_pair("stored_size", {0, 0}, {.least = 1, .most = 65536});
    options.stored_size = {height, width};
    if (options.dataset.own_sizes())
      data.problem("stored_size", "is only for kinds of data whose images all have one size; leave the key out");
  }
  options.mixing = data::read_mixing_options(data.table("mixing"));
  options.outliers = nn::read_outlier_options(data.table("outliers"));
  options.held_out = read_held_out(root.table("task"), options.dataset);
  options.loader = data::read_loader_options(data);
  options.repeated_augmentation = data.integer("repeated_augmentation", options.repeated_augmentation, {1, 64});
  options.knows_classes =
      options.dataset.kind->most_classes == 0 || data.has("classes") || !options.dataset.class_names.empty();
  options.model = models::read_image_classifier(root.table("model"), defaults_of(options.dataset, options.resize));
  return options;
}

bool takes_training_statistics(const ImageClassificationOptions& options) {
  const data::NormalizationOptions& normalization = options.normalization;
  if (!normalization.mean.empty() || normalization.source == data::NormalizationSource::none) return false;
  return normalization.source == data::NormalizationSource::data || !data::Normalization::known(*options.dataset.kind);
}

std::optional<data::ImageShape> trained_shape(const ImageClassificationOptions& options) {
  const data::ImageKind& kind = *options.dataset.kind;
  const data::ImageShape shape = data::image_traits(options.dataset).shape;
  if (!kind.files_tell_size) return shape;
  if (options.stored_size.height == 0) return std::nullopt;
  return data::ImageShape{options.model.image.channels, options.stored_size.height, options.stored_size.width};
}

TaskProfile ImageClassificationPlan::profile() const {
  const bool tests = options_.held_out == data::Split::test;
  return {"image_classification",
          {"image", "images", "img/s", tests ? "test" : "validation"},
          classification_metrics(),
          options_.model,
          /*reports_choice=*/tests || !data::has_test_images(options_.dataset)};
}

std::vector<DataPlace> ImageClassificationPlan::data() const {
  const data::DatasetOptions& dataset = options_.dataset;
  return {{std::string(dataset.kind->name), dataset.root, data::expected_files(dataset)}};
}

std::optional<std::string> ImageClassificationPlan::absent_data() const try {
  data::find_dataset_root(options_.dataset, std::filesystem::current_path());
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

DataLook ImageClassificationPlan::look_at_data(const data::LookProgress& progress) const {
  const auto open = [&](data::Split split) {
    const auto found = [&](int64_t files) {
      if (progress) progress(files, 0);
    };
    return data::open_dataset(options_.dataset, split, std::filesystem::current_path(), found);
  };
  const auto training = open(data::Split::train);
  DataLook look;
  const auto add = [&](const data::LabelledImages& split) {
    if (split.passed_over()) look.passed_over.push_back(*split.passed_over());
  };
  add(*training);
  if (data::has_validation_images(options_.dataset)) {
    const auto validation = open(data::Split::validation);
    look.overlaps.push_back(data::image_overlap(training->images(), validation->images(), "validation", progress));
    if (options_.dataset.validation_fraction == 0) add(*validation);
  }
  if (data::has_test_images(options_.dataset)) {
    const auto test = open(data::Split::test);
    look.overlaps.push_back(data::image_overlap(training->images(), test->images(), "test", progress));
    add(*test);
  }
  return look;
}

SavedFiles ImageClassificationPlan::files_to_keep() const {
  if (absent_data()) return {};
  SavedFiles keep;
  if (options_.dataset.class_names.empty())
    keep = keep_class_names(data::find_class_names(options_.dataset, std::filesystem::current_path()));
  const bool learns_pixels = takes_training_statistics(options_);
  if (!learns_pixels && trained_shape(options_)) return keep;
  const auto training = data::open_dataset(options_.dataset, data::Split::train);
  const data::ImageShape shape = training->images().shape();
  ImageStatistics statistics{{}, {shape.height, shape.width}};
  if (learns_pixels)
    statistics.normalization =
        data::make_normalization(options_.normalization, *options_.dataset.kind, training->images());
  keep.files.emplace(kImageStatistics, to_json(statistics));
  keep.digests = {{"training", training->digest()}};
  keep.fingerprints = [training] { return std::map<std::string, std::string>{{"training", training->fingerprint()}}; };
  return keep;
}

std::vector<std::string> ImageClassificationPlan::saved_file_settings(const std::filesystem::path& run) const {
  const std::filesystem::path own = run / kImageStatistics;
  std::error_code error;
  if (options_.dataset.own_sizes() || !std::filesystem::is_regular_file(own, error)) return {};
  const auto [normalization, size] = read_image_statistics(own);
  std::vector<std::string> settings;
  if (!trained_shape(options_))
    settings.push_back("data.stored_size=" + config::toml_text(std::vector<int64_t>{size.height, size.width}));
  if (!takes_training_statistics(options_) || normalization.mean.empty()) return settings;
  settings.push_back("data.normalization.mean=" + config::toml_text(normalization.mean));
  settings.push_back("data.normalization.std=" + config::toml_text(normalization.std));
  return settings;
}

std::optional<std::string> ImageClassificationPlan::keys_from_training_data() const {
  if (!takes_training_statistics(options_)) return std::nullopt;
  return "data.normalization.mean and data.normalization.std";
}

std::vector<std::string> ImageClassificationPlan::class_name_settings() const {
  return keep_class_names(options_.dataset.class_names).settings;
}

std::unique_ptr<Task> ImageClassificationPlan::build(const train::TrainOptions& training, Splits splits) const {
  ImageClassificationPlan plan = *this;
  if ((splits == Splits::test || splits == Splits::given) && data::has_test_images(options_.dataset))
    plan.options_.held_out = data::Split::test;
  return std::make_unique<ImageClassification>(plan, training, splits);
}

void ImageClassificationPlan::evaluate_all() {
  if (data::has_test_images(options_.dataset)) return;
  options_.dataset.validation_fraction = 0;
  data::separate_training_split(options_.dataset);
  options_.held_out = data::Split::test;
}

std::optional<int64_t> ImageClassificationPlan::classes_of_data() const {
  return options_.knows_classes ? std::optional(data::image_traits(options_.dataset).classes) : std::nullopt;
}

// What a recipe leaves open, its kind of data may know.
Preprocessing ImageClassificationPlan::preprocessing() const {
  Preprocessing result{options_.normalization, options_.resize};
  if (result.normalization.mean.empty() && result.normalization.source == data::NormalizationSource::automatic) {
    if (const auto known = data::Normalization::known(*options_.dataset.kind))
      result.normalization = normalization_options(*known, options_.model.image.channels);
  }
  return result;
}

std::vector<std::string> ImageClassificationPlan::preparation_settings(const std::filesystem::path& weights) const {
  const auto of_weights =
      timm_preprocessing(weights, {options_.normalization, options_.resize}, options_.model.image.channels);
  if (!of_weights) return {};
  std::vector<std::string> settings;
  if (options_.normalization.source == data::NormalizationSource::automatic)
    settings = normalization_settings(of_weights->normalization);
  // Images of one size are not cropped: they have no border that is less important.
  if (!options_.dataset.own_sizes()) return settings;
  for (std::string& each : resize_settings(of_weights->resize)) settings.push_back(std::move(each));
  return settings;
}

void ImageClassificationPlan::replace_model(const runtime::ExportManifest& manifest, MakeSession make) {
  take_class_names(manifest, options_.model.classes, options_.dataset.class_names);
  if (options_.dataset.class_names.empty()) options_.exported_numbers = manifest.classes;
  options_.is_exported = true;
  if (const auto& image = manifest.image) {
    data::NormalizationOptions& normalization = options_.normalization;
    if (normalization.mean.empty() && normalization.source != data::NormalizationSource::none)
      normalization = {.source = normalization.source, .mean = image->mean, .std = image->deviation};
    if (options_.stored_size.height == 0) options_.stored_size = {image->first_height, image->first_width};
  }
  const models::ImageClassifierPlan& model = options_.model;
  options_.model.build = [make = std::move(make), image = model.image, classes = model.classes] {
    return deploy::session_model(make(), image, classes);
  };
}

TaskKind image_classification() {
  return {"image_classification", [](const config::View& root, data::DataRoot data_root) {
            return std::make_unique<ImageClassificationPlan>(read_image_classification_options(root, data_root));
          }};
}

}  // namespace cachet::tasks
