#include "cachet/tasks/detection/detection_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/config/toml_text.h"
#include "cachet/data/data_path.h"
#include "cachet/data/held_out.h"
#include "cachet/data/named_by.h"
#include "cachet/data/vision/coco/coco_instances.h"
#include "cachet/data/vision/image_kinds.h"
#include "cachet/data/vision/image_overlap.h"
#include "cachet/io/error.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/detection/detection.h"
#include "cachet/tasks/detection/detection_evaluation.h"
#include "cachet/tasks/normalization_text.h"

namespace cachet::tasks {
namespace {

constexpr std::array<config::Choice<data::EmptyImages>, 2> kEmptyImages{
    {{"leave_out", data::EmptyImages::leave_out}, {"keep", data::EmptyImages::keep}}};
constexpr std::array<config::Choice<data::OtherCategories>, 2> kOtherCategories{
    {{"leave_out", data::OtherCategories::leave_out}, {"refuse", data::OtherCategories::refuse}}};
constexpr std::array<config::Choice<LossDivisor>, 2> kLossDivisors{
    {{"step", LossDivisor::step}, {"part", LossDivisor::part}}};
constexpr const char* kRefuseOthers = "data.other_categories=\"refuse\"";
constexpr config::Range<int64_t> kClasses{1, 10000};
constexpr std::array<config::Choice<data::Split>, 2> kHeldOutScenes{
    {{"validation", data::Split::validation}, {"test", data::Split::test}}};
constexpr std::array<config::Choice<bool>, 2> kEvaluatedOn{{{"validation", false}, {"training", true}}};

std::string expected_detection_files(const DetectionOptions& options) {
  const auto text = [](const DetectionFiles& files) {
    return files.annotations.string() + " and " + files.images.string();
  };
  return text(options.training) + ", " + text(options.validation) +
         (options.test.annotations.empty() ? "" : ", " + text(options.test));
}

DetectionFiles read_files(const config::View& data, const std::string& split, const DetectionFiles& defaults) {
  return {data.text(split + "_annotations", defaults.annotations.string()),
          data.text(split + "_images", defaults.images.string())};
}

// Where somebody gives mean and deviation, they must be three; else ImageNet's.
data::Normalization read_detection_normalization(const config::View& view) {
  const data::Normalization known = *data::Normalization::known(data::kClassFolders);
  data::Normalization normalization{view.reals("mean", known.mean, data::kChannelMeans),
                                    view.reals("std", known.std, data::kChannelDeviations)};
  if (normalization.mean.size() != 3) view.problem("mean", "must have one value for each of the three channels");
  if (normalization.std.size() != 3) view.problem("std", "must have one value for each of the three channels");
  return normalization;
}

data::ScaleLimit evaluation_scale(const DetectorOptions& options) {
  return options.transform.for_evaluation().scales.front();
}

}  // namespace

DetectorOptions read_detector_options(const config::View& root) {
  const config::View data = root.table("data"), model = root.table("model");
  DetectorOptions options;
  options.class_names = data.texts("class_names", {});
  const auto named = static_cast<int64_t>(options.class_names.size());
  const bool of_model = named == 0 && !data.has("classes") && model.has("classes");
  if (of_model) options.classes = model.integer("classes", options.classes, kClasses);
  options.classes = data.integer("classes", named > 0 ? named : options.classes, kClasses);
  if (named > 0 && named != options.classes)
    data.problem("classes", "must be the number of class_names (" + std::to_string(named) + ")");
  options.category_ids = data.integers("category_ids", {}, {.least = 0});
  if (!options.category_ids.empty() && std::ssize(options.category_ids) != named)
    data.problem("category_ids", "must have as many entries as class_names (" + std::to_string(named) + ")");
  // A recipe without the key has none in its resolved form either: it is the same as before the key existed.
  if (data.has("other_categories"))
    options.other_categories = data.choice("other_categories", data::OtherCategories::leave_out, kOtherCategories);
  options.transform = data::read_detection_transform(data.table("transform"));
  options.orientation = data::read_orientation(data, options.orientation);
  options.normalization = read_detection_normalization(data.table("normalization"));
  const data::ScaleLimit largest = evaluation_scale(options);
  const models::ImageShape image{3, data::padded_side(largest.shorter, options.transform.multiple),
                                 data::padded_side(largest.longer, options.transform.multiple)};
  options.model = models::read_object_detector(model, {.image = image, .classes = options.classes});
  if (options.model.image.channels != image.channels)
    model.problem("channels",
                  "must be 3, because the images of a detector have three colour channels; leave the key out");
  if (options.model.classes != options.classes)
    model.problem("classes",
                  "must be equal to data.classes (" + std::to_string(options.classes) + "); leave the key out");
  return options;
}

std::string preparation_text(const DetectorOptions& options) {
  const data::ScaleLimit largest = evaluation_scale(options);
  const bool turned = options.orientation == io::OrientationRule::apply;
  return std::string(turned ? "turned upright, " : "") + "as large as fits in " + std::to_string(largest.longer) +
         " x " + std::to_string(largest.shorter) + " (bilinear), padded to multiples of " +
         std::to_string(options.transform.multiple) + ", " +
         normalization_text(options.normalization.mean, options.normalization.std);
}

std::string preparation_json(const DetectorOptions& options) {
  const data::ScaleLimit largest = evaluation_scale(options);
  return nlohmann::ordered_json{{"orientation", data::to_string(options.orientation)},
                                {"long_side", largest.longer},
                                {"short_side", largest.shorter},
                                {"pad_multiple", options.transform.multiple},
                                {"interpolation", "bilinear"},
                                {"mean", options.normalization.mean},
                                {"std", options.normalization.std}}
      .dump();
}

DetectionOptions read_detection_options(const config::View& root, data::DataRoot data_root) {
  const config::View data = root.table("data");
  DetectionOptions options;
  options.root = data_root == data::DataRoot::required ? data.required_text("root") : data.text("root", "");
  options.training = read_files(data, "train", options.training);
  options.validation = read_files(data, "validation", options.validation);
  static_cast<DetectorOptions&>(options) = read_detector_options(root);
  // A recipe without these keys has none in its resolved form either: it is the same as before they existed.
  if (data.has("test_annotations") || data.has("test_images")) {
    options.test = {data.required_text("test_annotations"), data.required_text("test_images")};
    if (options.test.annotations.empty() != options.test.images.empty())
      data.problem("test_images", "must be given with test_annotations");
  }
  if (data.has("validation_fraction"))
    options.validation_fraction =
        data.real("validation_fraction", options.validation_fraction, {.least = 0, .most = 0.9});
  const config::View task = root.table("task");
  if (task.has("held_out")) options.held_out = task.choice("held_out", options.held_out, kHeldOutScenes);
  if (options.held_out == data::Split::test && !has_own_test(options))
    task.problem("held_out",
                 "needs test images: set data.test_annotations and data.test_images, or set "
                 "data.validation_fraction above 0, which makes the validation files the test files");
  options.empty_images = data.choice("images_without_objects", options.empty_images, kEmptyImages);
  options.on_training = data.choice("evaluate_on", options.on_training, kEvaluatedOn);
  options.strict_images = data.boolean("strict_images", options.strict_images);
  options.on_bad_image = data::read_on_bad_image(data);
  options.subset.fraction =
      data.real("fraction", options.subset.fraction, {.least = 0, .most = 1, .least_excluded = true});
  options.subset.limit = data.integer("limit", options.subset.limit, {.least = 0});
  options.subset.seed = static_cast<uint64_t>(data.integer("subset_seed", 0, {.least = 0}));
  options.loader = data::read_loader_options(data);
  options.divisor = root.table("task").choice("loss_divisor", options.divisor, kLossDivisors);
  return options;
}

std::filesystem::path find_detection_root(const DetectionOptions& options) {
  return data::find_data_path("data.root", options.root, data::PathKind::folder, std::filesystem::current_path(),
                              "it should hold " + expected_detection_files(options));
}

bool has_own_test(const DetectionOptions& options) {
  const bool one_file = options.validation.annotations == options.training.annotations;
  return (options.validation_fraction > 0 && !one_file) || !options.test.annotations.empty();
}

namespace {

/// The files of a split, and the keys that name them.
std::pair<DetectionFiles, std::string> files_of(const DetectionOptions& options, DetectionSplit split) {
  const bool drawn = split == DetectionSplit::validation && options.validation_fraction > 0;
  if (drawn || split == DetectionSplit::training || split == DetectionSplit::training_evaluated)
    return {options.training, "data.train"};
  if (split == DetectionSplit::test && !options.test.annotations.empty()) return {options.test, "data.test"};
  return {options.validation, "data.validation"};
}

/// The class of an image's objects that fewest images have: strata by it keep a part of each class. An image without
/// objects has −1.
std::vector<int64_t> rarest_classes(const data::DetectionSet& set) {
  std::map<int64_t, int64_t> images;
  std::vector<std::set<int64_t>> classes;
  for (int64_t i = 0; i < set.size(); ++i) {
    std::set<int64_t>& own = classes.emplace_back();
    for (const data::CocoAnnotation& annotation : set.annotations(i)) own.insert(annotation.category);
    for (const int64_t each : own) ++images[each];
  }
  std::vector<int64_t> rarest;
  for (const std::set<int64_t>& own : classes) {
    const auto least = std::ranges::min_element(own, {}, [&](int64_t each) { return std::pair(images[each], each); });
    rarest.push_back(least == own.end() ? -1 : *least);
  }
  return rarest;
}

}  // namespace

std::shared_ptr<const data::DetectionSet> open_detection_split(const DetectionOptions& options, DetectionSplit split,
                                                               int64_t limit, std::string* indices) {
  const std::filesystem::path root = find_detection_root(options);
  const bool training = split == DetectionSplit::training;
  const bool draws = options.validation_fraction > 0 && split != DetectionSplit::test;
  const bool of_training = training || draws;
  const data::DetectionSetOptions set_options{
      .class_names = options.class_names,
      .may_lack_classes = !of_training,
      .other_categories = options.other_categories,
      .masks = options.model.masks,
      .needs_annotations = of_training,
      .empty_images = of_training ? options.empty_images : data::EmptyImages::keep,
      .strict_images = options.strict_images,
      .orientation = options.orientation};
  const auto [files, keys] = files_of(options, split);
  auto set = data::open_detection_set(root / files.annotations, root / files.images, set_options, keys);
  if (draws) {
    const data::HeldOut parts = data::hold_out(rarest_classes(*set), options.validation_fraction, options.subset.seed);
    set = set->subset(split == DetectionSplit::validation ? parts.validation : parts.training);
    if (indices) *indices = data::digest_of_indices(parts.validation);
  }
  const data::SubsetOptions part{training ? options.subset.fraction : 1, limit, options.subset.seed};
  if (const auto kept = data::kept_samples(set->size(), part, training ? 0 : 1)) set = set->subset(*kept, set->size());
  const auto classes = static_cast<int64_t>(set->class_names().size());
  if (classes != options.classes)
    throw std::invalid_argument(set->instances().name() + ": has " +
                                config::counted(classes, "category", "categories") + ", but the model has " +
                                config::counted(options.classes, "class", "classes") +
                                "; set data.classes, or list the categories to use in data.class_names");
  return set;
}

TaskProfile DetectionPlan::profile() const {
  const bool tests = options_.held_out == data::Split::test;
  return {"detection",
          {"image", "images", "img/s", tests ? "test" : "validation"},
          detection_metrics(options_.model.masks),
          options_.model,
          /*reports_choice=*/tests || !has_own_test(options_)};
}

std::vector<DataPlace> DetectionPlan::data() const {
  return {{"COCO instances", options_.root, expected_detection_files(options_)}};
}

std::optional<std::string> DetectionPlan::absent_data() const try {
  find_detection_root(options_);
  return std::nullopt;
} catch (const io::Error& error) {
  return error.what();
}

DataLook DetectionPlan::look_at_data(const data::LookProgress& progress) const {
  const auto training = open_detection_split(options_, DetectionSplit::training, options_.subset.limit);
  if (options_.on_training) {
    const std::string first = training->path(0).string();
    return {.overlaps = {{"validation", "images", training->size(), training->size(), first, first}}};
  }
  DataLook look;
  const auto compare = [&](DetectionSplit split, const std::string& name) {
    const auto images = open_detection_split(options_, split, options_.subset.limit)->images();
    look.overlaps.push_back(data::image_overlap(*training->images(), *images, name, progress));
  };
  compare(DetectionSplit::validation, "validation");
  if (has_own_test(options_)) compare(DetectionSplit::test, "test");
  return look;
}

SavedFiles DetectionPlan::files_to_keep() const {
  if (!options_.category_ids.empty() || absent_data()) return {};
  const auto instances = data::named_by({"data.root", "data.train_annotations"}, [&] {
    return data::CocoInstances::read(find_detection_root(options_) / options_.training.annotations);
  });
  std::map<std::string, int64_t> ids;
  std::vector<std::string> names = options_.class_names;
  for (const data::CocoCategory& category : instances.categories()) {
    // Names that are there twice do not identify a class.
    if (!ids.emplace(category.name, category.id).second) return {};
    if (options_.class_names.empty()) names.push_back(category.name);
  }
  // Other numbers, and names that the file has not, are the task's to complain of.
  if (std::ssize(names) != options_.classes) return {};
  std::vector<int64_t> of_classes;
  for (const std::string& name : names) {
    const auto found = ids.find(name);
    if (found == ids.end()) return {};
    of_classes.push_back(found->second);
  }
  SavedFiles keep{{}, {"data.category_ids=" + config::toml_text(of_classes)}};
  if (!options_.class_names.empty()) return keep;
  keep.settings.insert(keep.settings.begin(), "data.class_names=" + config::toml_text(names));
  if (!options_.other_categories.has_value()) keep.settings.emplace_back(kRefuseOthers);
  return keep;
}

std::vector<std::string> DetectionPlan::class_name_settings() const {
  if (options_.class_names.empty()) return {};
  std::vector<std::string> settings{"data.class_names=" + config::toml_text(options_.class_names),
                                    "data.category_ids=" + config::toml_text(options_.category_ids)};
  if (options_.other_categories == data::OtherCategories::refuse) settings.emplace_back(kRefuseOthers);
  return settings;
}

std::unique_ptr<Task> DetectionPlan::build(const train::TrainOptions& training, Splits splits) const {
  DetectionPlan plan = *this;
  if (splits == Splits::test && has_own_test(options_)) plan.options_.held_out = data::Split::test;
  return std::make_unique<Detection>(plan, training, splits);
}

void DetectionPlan::evaluate_all() {
  if (!has_own_test(options_)) options_.validation_fraction = 0;
}

void DetectionPlan::replace_model(std::function<std::shared_ptr<models::Model>()> make) {
  options_.model.build = [make = std::move(make)] { return std::dynamic_pointer_cast<models::ObjectDetector>(make()); };
}

TaskKind detection() {
  return {"detection", [](const config::View& root, data::DataRoot data_root) {
            return std::make_unique<DetectionPlan>(read_detection_options(root, data_root));
          }};
}

}  // namespace cachet::tasks
