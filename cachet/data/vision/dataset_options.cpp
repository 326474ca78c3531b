#include "cachet/data/vision/dataset_options.h"

#include <ATen/ops/empty.h>

#include <stdexcept>
#include <string_view>

#include "cachet/data/class_matching.h"
#include "cachet/data/data_path.h"
#include "cachet/data/held_out.h"
#include "cachet/data/named_by.h"
#include "cachet/data/subset.h"
#include "cachet/data/vision/class_names.h"
#include "cachet/data/vision/image_files.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/io/error.h"

namespace cachet::data {
namespace {

void read_class_folder_options(const config::View& data, ClassFolderOptions& options) {
  options.train_folder = data.text("train_folder", options.train_folder);
  options.validation_folder = data.text("validation_folder", options.validation_folder);
  if (options.train_folder.empty() || options.validation_folder.empty()) {
    data.problem(options.train_folder.empty() ? "train_folder" : "validation_folder", "must not be empty");
  }
  // A recipe without the key has none in its resolved form either.
  if (data.has("test_folder")) options.test_folder = data.text("test_folder", options.test_folder);
}

void read_shard_options(const config::View& data, DatasetOptions& options) {
  ShardOptions& shards = options.shards;
  shards.train_shards = data.text("train_shards", shards.train_shards);
  shards.validation_shards = data.text("validation_shards", shards.validation_shards);
  if (shards.train_shards.empty()) data.problem("train_shards", "must not be empty");
  if (shards.validation_shards.empty()) data.problem("validation_shards", "must not be empty");
  if (data.has("test_shards")) shards.test_shards = data.text("test_shards", shards.test_shards);
  shards.window = data.integer("window", shards.window, {.least = 1});
  options.on_bad_image = read_on_bad_image(data);
}

/// The values of the keys that select the splits: folders or patterns.
struct SplitKeys {
  const std::string &train, &validation, &test;
};
SplitKeys split_keys(const DatasetOptions& options) {
  if (options.kind->has_shards)
    return {options.shards.train_shards, options.shards.validation_shards, options.shards.test_shards};
  return {options.folders.train_folder, options.folders.validation_folder, options.folders.test_folder};
}

// "idx", "class_folders" and "shards": the kinds whose recipes have the number of classes.
std::string kinds_without_known_classes() {
  std::string words;
  for (const ImageKind* kind : image_kinds()) {
    if (kind->most_classes == 0) continue;
    words += (words.empty() ? "\"" : " or \"") + std::string(kind->name) + "\"";
  }
  return words;
}

/// Calls `read`, which reads a split; its errors name the keys that choose the split and its folder.
template <class Read>
auto read_split(const DatasetOptions& options, const Read& read) {
  if (options.kind->has_class_folders)
    return named_by({"data.root", "data.train_folder", "data.validation_folder"}, read);
  if (options.kind->has_shards) return read();  // open_shards() names the keys
  if (options.kind->most_classes > 0) return named_by({"data.root", "data.kind", "data.classes"}, read);
  return named_by({"data.root", "data.kind"}, read);
}

/// The labels are those of the files, before they are matched with the classes of a model: another order of the model's
/// classes draws the same images.
HeldOut drawn_parts(const DatasetOptions& options, const LabelledImages& training) {
  return hold_out(training.labels().values(), options.validation_fraction, options.subset_seed);
}

}  // namespace

bool has_validation_images(const DatasetOptions& options) {
  return options.validation_fraction > 0 || !split_keys(options).test.empty();
}

void separate_training_split(DatasetOptions& options) {
  options.folders.train_folder = ClassFolderOptions().train_folder;
  options.shards.train_shards = ShardOptions().train_shards;
}

bool has_test_images(const DatasetOptions& options) {
  const SplitKeys keys = split_keys(options);
  // Without a part that validates, whoever names the training folder twice asks for an evaluation of training images.
  return !options.kind->own_sizes() || !keys.test.empty() || keys.validation != keys.train ||
         options.validation_fraction == 0;
}

bool DatasetOptions::own_sizes() const { return kind->own_sizes(); }

std::string expected_files(const DatasetOptions& options) { return options.kind->expected_files(options); }

void read_image_kind(const config::View& data, DatasetOptions& options) {
  const ImageKind* usual = options.kind;
  options.kind = data.record("kind", usual, image_kinds());
  options.orientation = read_orientation(data, options.orientation);
  options.class_names = read_class_names(data);
  const auto named = static_cast<int64_t>(options.class_names.size());
  if (options.kind->most_classes > 0) {
    const int64_t usual_classes = options.kind == usual ? options.classes : options.kind->classes;
    options.classes =
        data.integer("classes", named > 0 ? named : usual_classes, {.least = 1, .most = options.kind->most_classes});
    if (named > 0 && named != options.classes)
      data.problem("classes", "must be the number of class names, " + std::to_string(named) +
                                  " (data.class_names, or else the names in the data); leave data.classes out, or set "
                                  "class_names = [] to use the names in the data");
  } else {
    data.refuse("classes", "can only be set with kind = " + kinds_without_known_classes() +
                               "; the other kinds have a fixed number of classes");
  }
  if (!options.own_sizes()) return;
  options.folders.channels = data.integer("channels", options.folders.channels, {1, 3});
  if (options.folders.channels == 2) data.problem("channels", "must be 1 or 3");
}

DatasetOptions read_dataset_options(const config::View& data, DataRoot root) {
  DatasetOptions options;
  read_image_kind(data, options);
  options.root = root == DataRoot::required ? data.required_text("root") : data.text("root", "");
  options.fraction = data.real("fraction", options.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.limit = data.integer("limit", options.limit, {.least = 0});
  options.subset_seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));
  if (data.has("validation_fraction"))
    options.validation_fraction =
        data.real("validation_fraction", options.validation_fraction, {.least = 0, .most = 0.9});
  if (options.kind->has_class_folders) read_class_folder_options(data, options.folders);
  if (options.kind->has_shards) read_shard_options(data, options);
  if (options.own_sizes()) {
    options.folders.skip_other_files = data.boolean("skip_other_files", options.folders.skip_other_files);
    options.folders.strict_images = data.boolean("strict_images", options.folders.strict_images);
  }
  return options;
}

ImageTraits image_traits(const DatasetOptions& options) {
  ImageTraits traits{options.kind->shape, options.kind->most_classes > 0 ? options.classes : options.kind->classes};
  if (!options.class_names.empty()) traits.classes = static_cast<int64_t>(options.class_names.size());
  if (options.own_sizes()) traits.shape.channels = options.folders.channels;
  return traits;
}

std::filesystem::path find_dataset_root(const DatasetOptions& options, const std::filesystem::path& working_folder) {
  return find_data_path("data.root", options.root, PathKind::folder, working_folder,
                        "it should contain " + expected_files(options));
}

std::vector<std::string> find_class_names(const DatasetOptions& options, const std::filesystem::path& working_folder) {
  const std::filesystem::path root = find_dataset_root(options, working_folder);
  return read_split(options, [&] { return options.kind->names_in(options, root); });
}

std::shared_ptr<const LabelledImages> without_images(const DatasetOptions& options, int64_t classes,
                                                     const ImageShape& shape) {
  std::vector<std::string> names =
      options.class_names.empty() ? options.kind->class_names(classes) : options.class_names;
  if (static_cast<int64_t>(names.size()) != classes) names = numbered_class_names(classes);
  std::shared_ptr<const ImageSource> none;
  if (options.own_sizes()) {
    const ImageFileOptions files{image_traits(options).shape.channels, options.folders.strict_images,
                                 options.orientation};
    none = std::make_shared<ImageFiles>(options.root, std::vector<std::string>(), files);
  } else {
    none = std::make_shared<StoredImages>(at::empty({0, shape.channels, shape.height, shape.width}, at::kByte));
  }
  return std::make_shared<LabelledImages>(std::move(none), ClassLabels({}, std::move(names)));
}

std::string digest_of_validation_indices(const DatasetOptions& options, const std::filesystem::path& working_folder) {
  if (options.validation_fraction == 0) return "";
  const std::filesystem::path root = find_dataset_root(options, working_folder);
  const auto all = read_split(options, [&] { return options.kind->open(options, Split::train, root, {}); });
  return digest_of_indices(drawn_parts(options, *all).validation);
}

std::shared_ptr<const LabelledImages> open_dataset(const DatasetOptions& options, Split split,
                                                   const std::filesystem::path& working_folder,
                                                   const IndexProgress& progress) {
  const std::filesystem::path root = find_dataset_root(options, working_folder);
  if (split == Split::validation && !has_validation_images(options))
    throw std::invalid_argument("the data set has no validation images; set data.validation_fraction");
  const bool draws = options.validation_fraction > 0 && split != Split::test;
  const Split opened = draws ? Split::train : split;
  auto all = read_split(options, [&] { return options.kind->open(options, opened, root, progress); });
  if (draws) {
    const HeldOut parts = drawn_parts(options, *all);
    all = all->subset(split == Split::validation ? parts.validation : parts.training);
  }
  if (!options.class_names.empty() && all->labels().class_names() != options.class_names)
    all = all->with_classes(match_numbered_classes(all->labels().class_names(), options.class_names, root.string()),
                            options.class_names);
  const bool trains = split == Split::train;
  const SubsetOptions subset{trains ? options.fraction : 1, options.limit, options.subset_seed};
  const auto kept = kept_samples(all->size(), subset, /*split=*/trains ? 0 : split == Split::test ? 1 : 2);
  return kept ? all->subset(*kept, all->size()) : all;
}

}  // namespace cachet::data
