#include "cachet/tasks/own_data/own_recipe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "cachet/config/counted.h"
#include "cachet/config/toml_text.h"
#include "cachet/config/utf8.h"
#include "cachet/data/folder_walk.h"
#include "cachet/data/text/encoders/text_encoder.h"
#include "cachet/io/error.h"
#include "cachet/io/images/image_format.h"
#include "cachet/io/tensors/image.h"
#include "cachet/models/registry.h"
#include "cachet/tasks/image_classification/preprocessing.h"
#include "cachet/tasks/own_data/found_data.h"
#include "cachet/tasks/own_data/prepared_texts.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/timm_config.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using models::Capability;

constexpr double kValidationFraction = 0.1;

/// The task that a kind of data is for, and the ability of a model that it needs.
struct OwnTask {
  OwnDataKind data;
  Capability needs;
  const char* trains;  // what a model with the ability is
};
constexpr std::array<OwnTask, 6> kOwnTasks{
    {{OwnDataKind::images, Capability::image_classifier, "an image classifier"},
     {OwnDataKind::coco, Capability::object_detector, "a detector"},
     {OwnDataKind::text, Capability::language_model, "a language model"},
     {OwnDataKind::pairs, Capability::translation_model, "a translation model"},
     {OwnDataKind::labelled_texts, Capability::sequence_classifier, "a classifier of sequences"},
     {OwnDataKind::shards, Capability::image_classifier, "an image classifier"}}};

const OwnTask& task_of(OwnDataKind kind) { return *std::ranges::find(kOwnTasks, kind, &OwnTask::data); }

bool model_can(const std::string& model, Capability ability) {
  const std::vector<Capability> can = models::abilities_of(model);
  return std::ranges::find(can, ability) != can.end();
}

/// The value of the last setting of a key, as TOML; nothing if no setting has it.
std::optional<std::string> setting_of(const std::vector<std::string>& settings, std::string_view key) {
  for (auto setting = settings.rbegin(); setting != settings.rend(); ++setting)
    if (setting->starts_with(key) && setting->size() > key.size() && (*setting)[key.size()] == '=')
      return setting->substr(key.size() + 1);
  return std::nullopt;
}

int64_t number_setting(const std::vector<std::string>& settings, std::string_view key, int64_t otherwise) {
  const auto text = setting_of(settings, key);
  const int64_t number = text ? std::strtoll(text->c_str(), nullptr, 10) : 0;
  return number > 0 ? number : otherwise;
}

/// A recipe that is being written.
class RecipeText {
 public:
  explicit RecipeText(const OwnDataRequest& request, const FoundData& found) : request_(request) {
    text_ = "# Made by `cachet train " + request.model + " --data " + config::printable(request.data.string()) +
            "` for " + to_text(found.kinds.front()) + ". Copy and edit it.\n";
  }
  void table(const char* name) { text_ += std::string("\n[") + name + "]\n"; }
  template <class Value>
  void set(const char* key, const Value& value) {
    text_ += std::string(key) + " = " + config::toml_text(value) + "\n";
  }
  /// Settings "TABLE.KEY=VALUE" of the table that is being written, without its name.
  void set_all(std::string_view table, const std::vector<std::string>& settings) {
    for (const std::string& setting : settings) {
      const size_t equals = setting.find('=');
      text_ += setting.substr(table.size(), equals - table.size()) + " = " + setting.substr(equals + 1) + "\n";
    }
  }
  void set(const char* key, const char* value) { set(key, std::string(value)); }
  void set(const char* key, int value) { set(key, static_cast<int64_t>(value)); }

  /// Tables [model] and [train] to [schedule]. `samples` train, `rate` is that of a model without weights.
  void set_training(int64_t samples, int64_t epochs, int64_t batch, double rate) {
    const bool starts = setting_of(request_.settings, "train.init").has_value();
    const int64_t own_batch = number_setting(request_.settings, "train.batch_size", batch),
                  own_epochs = number_setting(request_.settings, "train.epochs", epochs);
    const int64_t updates = own_epochs * std::max<int64_t>(1, steps_of_epoch(samples, own_batch));
    set_warmup();
    table("train");
    set("epochs", epochs);
    set("batch_size", batch);
    set("log_every", std::to_string(std::clamp<int64_t>(updates / 20, 1, 50)) + " steps");
    table("optimizer");
    set("lr", starts ? rate / 10 : rate);
    set("weight_decay", 0.05);
    table("schedule");
    set("kind", "cosine");
    set("warmup", std::to_string(std::max<int64_t>(1, updates / 20)) + " steps");
  }
  /// The same for batches that are counted in tokens, with about so many pairs in each.
  void set_translation(int64_t pairs, int64_t pairs_of_batch, int64_t epochs) {
    const int64_t own_epochs = number_setting(request_.settings, "train.epochs", epochs);
    const int64_t updates = own_epochs * std::max<int64_t>(1, steps_of_epoch(pairs, pairs_of_batch));
    set_warmup();
    table("train");
    set("epochs", epochs);
    set("log_every", std::to_string(std::clamp<int64_t>(updates / 20, 1, 50)) + " steps");
    set("evaluate_every",
        std::to_string(std::max<int64_t>(1, own_epochs / 10)) + (own_epochs / 10 > 1 ? " epochs" : " epoch"));
    table("optimizer");
    set("lr", setting_of(request_.settings, "train.init") ? 1e-4 : 1e-3);
    set("betas", std::vector<double>{0.9, 0.98});
    set("weight_decay", 1e-4);
    table("schedule");
    set("kind", "inverse_sqrt");
    set("warmup", std::to_string(std::clamp<int64_t>(updates / 10, 1, 1000)) + " steps");
  }
  /// Unified norms become active after a tenth of the run.
  void set_warmup() {
    const auto norm = setting_of(request_.settings, "model.norm.kind");
    if (norm != "un" && norm != "\"un\"") return;
    table("model.norm");
    set("kind", "un");
    set("warmup", "10 %");
  }
  const std::string& text() const { return text_; }

 private:
  int64_t steps_of_epoch(int64_t samples, int64_t batch) const {
    const auto of_step = static_cast<double>(std::max<int64_t>(1, batch)) *
                         static_cast<double>(number_setting(request_.settings, "train.accumulate", 1));
    return static_cast<int64_t>(static_cast<double>(samples) / of_step);
  }

  const OwnDataRequest& request_;
  std::string text_;
};

/// As recipes name folders: a path that is found wherever the run is resumed.
/// The line of the values that were chosen. It leaves out the values whose keys the user set.
class ChosenValues {
 public:
  explicit ChosenValues(const OwnDataRequest& request) : settings_(request.settings) {}
  void add(std::string_view key, const std::string& value) {
    if (!setting_of(settings_, key)) line_ += (line_.empty() ? "chosen: " : ", ") + value;
  }
  void write(OwnRecipe& result) const {
    if (!line_.empty()) result.lines.push_back(line_);
  }

 private:
  const std::vector<std::string>& settings_;
  std::string line_;
};

std::string root_of(const fs::path& folder) { return fs::absolute(folder).lexically_normal().string(); }

/// How many of these samples validate: a tenth of each class, as data::hold_out() draws them.
int64_t held_out(const OwnSplit& split) {
  int64_t all = 0;
  for (const OwnClass& each : split.classes)
    if (each.images > 1)
      all +=
          std::clamp<int64_t>(std::llround(kValidationFraction * static_cast<double>(each.images)), 1, each.images - 1);
  return all;
}

/// A size of batch that needs about as much memory for any size of images, and makes enough steps of few samples.
int64_t batch_of_images(int64_t samples, int64_t side) {
  int64_t batch = 64;
  while (batch > 8 && batch * side * side > int64_t{16} * 224 * 224) batch /= 2;
  while (batch > 4 && batch * 8 > samples) batch /= 2;
  while (batch > 1 && batch > samples) batch /= 2;
  return batch;
}

int64_t epochs_for(int64_t samples, int64_t batch, int64_t updates, int64_t most) {
  const int64_t of_epoch = std::max<int64_t>(1, samples / batch);
  return std::clamp<int64_t>((updates + of_epoch - 1) / of_epoch, 3, most);
}

void require_whole_classes(const fs::path& root, const OwnSplit& split) {
  const fs::path folder = split.folder == "." ? root : root / split.folder;
  for (const OwnClass& each : split.classes)
    if (each.images == 0)
      throw io::Error((folder / each.name).string() +
                      ": the class has no JPEG or PNG files; add some, or remove the folder");
}

/// Throws io::Error if the first bytes of image files are not those of a JPEG or PNG file. Of many files, only the
/// first ones are read.
void require_image_files(const fs::path& root, const OwnClassFolders& folders) {
  constexpr int64_t kMostFiles = 20'000;
  int64_t files = 0, broken = 0;
  fs::path first;
  for (const OwnSplit* split : {&folders.train, &folders.validation, &folders.test})
    for (const OwnClass& each : split->classes)
      data::for_each_file_below((split->folder == "." ? root : root / split->folder) / each.name,
                                [&](const fs::path& file, const std::string& /*name*/) {
                                  if (!data::has_image_name(file) || ++files > kMostFiles) return;
                                  std::array<char, 16> bytes{};
                                  std::ifstream(file, std::ios::binary).read(bytes.data(), bytes.size());
                                  const std::string_view format = io::image_format(std::as_bytes(std::span(bytes)));
                                  if (format != "JPEG" && format != "PNG" && broken++ == 0) first = file;
                                });
  if (broken == 0) return;
  std::string why = first.string() + ": this is not a JPEG or PNG file";
  try {
    io::read_image(first, {});
  } catch (const io::Error& error) {
    why = error.what();
  }
  if (broken > 1) why += ". " + config::counted(broken - 1, "other image") + " cannot be read, either";
  throw io::Error(why + "; repair or remove " + (broken > 1 ? "these files" : "this file"));
}

/// What is known of the images that weights were trained on.
struct WeightsImages {
  std::optional<Preprocessing> preparation{};
  std::string model{};  // that the weights are of
  int64_t side = 224;
};

WeightsImages images_of_weights(const OwnDataRequest& request) {
  const fs::path& weights = request.weights;
  WeightsImages found;
  if (weights.empty()) return found;
  if (is_model_folder(weights)) {
    const RecipePlan saved = read_saved_plan(weights);
    if (const auto* images = dynamic_cast<const PreparesImages*>(saved.task.get())) {
      found.preparation = images->preprocessing();
      found.side = std::max(found.preparation->resize.image_size.height, found.preparation->resize.image_size.width);
      found.model = saved.model().name;
    }
    return found;
  }
  found.preparation = timm_preprocessing(weights, {.resize = data::ResizeOptions::of_own_sizes()}, /*channels=*/3);
  if (const auto model = timm_model(weights)) {
    found.model = model->name;
    found.side = number_setting(model->settings, "model.image_size", found.side);
  }
  return found;
}

/// The keys that select the splits of class folders, or of tar shards.
struct SplitKeys {
  const char *kind, *train, *validation, *test;
};
constexpr SplitKeys kFolderKeys{"class_folders", "train_folder", "validation_folder", "test_folder"};
constexpr SplitKeys kShardKeys{"shards", "train_shards", "validation_shards", "test_shards"};

void write_images(const OwnDataRequest& request, const FoundData& found, RecipeText& recipe, OwnRecipe& result) {
  const bool is_shards = found.kinds.front() == OwnDataKind::shards;
  const OwnClassFolders& splits = is_shards ? found.shards : found.folders;
  const SplitKeys& keys = is_shards ? kShardKeys : kFolderKeys;
  const OwnSplit &train = splits.train, &validation = splits.validation, &test = splits.test;
  if (!is_shards) {
    require_whole_classes(found.path, train);
    require_image_files(found.path, splits);
  }
  const auto classes = static_cast<int64_t>(train.classes.size());
  if (classes < 2)
    throw io::Error(found.path.string() + (is_shards ? ": has one class, " : ": has one class folder, ") +
                    train.classes.front().name + "; a classifier needs at least two classes");
  const bool has_validation = validation.images() > 0, has_test = test.images() > 0;
  const bool draws = !(has_validation && has_test);
  const int64_t drawn = draws ? held_out(train) : 0, samples = train.images() - drawn;
  const WeightsImages of_weights = images_of_weights(request);
  const int64_t side = number_setting(request.settings, "data.resize.image_size", of_weights.side);
  const int64_t batch = batch_of_images(samples, side);
  recipe.table("task");
  recipe.set("kind", "image_classification");
  recipe.table("data");
  recipe.set("kind", keys.kind);
  recipe.set("root", root_of(found.path));
  recipe.set("classes", classes);
  recipe.set(keys.train, train.folder);
  if (has_validation || has_test) {
    recipe.set(keys.validation, has_validation ? validation.folder : test.folder);
    if (!draws) recipe.set(keys.test, test.folder);
  } else {
    recipe.set(keys.validation, train.folder);
  }
  if (draws) recipe.set("validation_fraction", kValidationFraction);
  recipe.set("orientation", "apply");
  recipe.set("skip_other_files", true);
  recipe.set("workers", 1);
  recipe.table("data.resize");
  recipe.set("image_size", side);
  if (of_weights.preparation) recipe.set_all("data.resize.", resize_settings(of_weights.preparation->resize));
  if (of_weights.preparation) {
    recipe.table("data.normalization");
    recipe.set_all("data.normalization.", normalization_settings(of_weights.preparation->normalization));
  }
  recipe.table("data.augmentation");
  recipe.set("crop", "resized");
  recipe.set("crop_area", std::vector<double>{0.3, 1.0});
  recipe.set("flip", 0.5);
  recipe.table("data.mixing");
  recipe.set("label_smoothing", 0.1);
  recipe.table("model");
  recipe.set("name", request.model);
  recipe.set_training(samples, epochs_for(samples, batch, 1'500, 50), batch, 5e-4);
  std::string line = (is_shards ? "tar shards: " : "class folders: ") + config::counted(classes, "class", "classes") +
                     ", " + config::counted(train.images(), "training image", "training images");
  if (draws)
    line += ", of which " + std::to_string(drawn) + (drawn == 1 ? " is for validation" : " are for validation");
  if (!draws) line += ", " + config::counted(validation.images(), "validation image", "validation images");
  if (has_validation || has_test) {
    const OwnSplit& tested = has_test ? test : validation;
    line += ", " + config::counted(tested.images(), "test image", "test images") + " (" + tested.folder + ")";
  } else {
    line += ", no test images";
  }
  result.lines.push_back(line);
  std::vector<std::string> single;
  for (const OwnClass& each : train.classes)
    if (draws && each.images == 1) single.push_back(each.name);
  if (const std::string note = unmeasured_classes_note(single, "validation"); !note.empty())
    result.lines.push_back(note);
  ChosenValues chosen(request);
  chosen.add("data.resize.image_size", "images of " + std::to_string(side) + " pixels from random crops");
  chosen.add("train.batch_size", "batch size " + std::to_string(batch));
  chosen.write(result);
  if (!of_weights.preparation) return;
  Preprocessing shown = *of_weights.preparation;
  shown.resize.image_size = side;
  result.lines.push_back("images are prepared in the same way as for " + config::printable(request.init) + ": " +
                         to_text(shown));
  if (!of_weights.model.empty() && of_weights.model != request.model)
    result.lines.push_back("note: the weights are of " + config::printable(of_weights.model) +
                           ", but the model to train is " + request.model);
}

void write_coco(const OwnDataRequest& request, const FoundData& found, RecipeText& recipe, OwnRecipe& result) {
  const OwnCoco& coco = found.coco;
  if (request.model.starts_with("mask_") && !coco.masks)
    throw std::invalid_argument(request.model + " learns masks, and " + coco.train.file +
                                " has no masks; choose a detector of boxes, such as retinanet_pvt_tiny_fpn");
  const bool one_file = !coco.validation.given() && !coco.test.given(),
             draws = !(coco.validation.given() && coco.test.given());
  const OwnAnnotations& second = coco.validation.given() ? coco.validation : one_file ? coco.train : coco.test;
  const int64_t longest = std::clamp<int64_t>((coco.longest_side + 31) / 32 * 32, 64, 800);
  const int64_t drawn = draws ? std::llround(kValidationFraction * static_cast<double>(coco.train.pictures)) : 0;
  const int64_t samples = std::max<int64_t>(1, coco.train.pictures - drawn);
  const int64_t batch = std::clamp<int64_t>(samples / 4, 1, 2);
  recipe.table("task");
  recipe.set("kind", "detection");
  recipe.table("data");
  recipe.set("root", root_of(found.path));
  recipe.set("classes", coco.classes);
  recipe.set("train_annotations", coco.train.file);
  recipe.set("train_images", coco.train.images);
  recipe.set("validation_annotations", second.file);
  recipe.set("validation_images", second.images);
  if (!draws) {
    recipe.set("test_annotations", coco.test.file);
    recipe.set("test_images", coco.test.images);
  }
  if (draws) recipe.set("validation_fraction", kValidationFraction);
  recipe.set("workers", 1);
  recipe.table("data.transform");
  recipe.set("long_side", longest);
  recipe.set("short_sides", std::vector<int64_t>{longest});
  recipe.table("model");
  recipe.set("name", request.model);
  recipe.set_training(samples, epochs_for(samples, batch, 3'000, 50), batch, 2e-4);
  std::string line = "COCO folder: " + config::counted(coco.classes, "class", "classes") + ", " +
                     config::counted(coco.train.pictures, "training image", "training images");
  if (draws) line += " (a tenth of each class, but at least one image, is for validation)";
  if (!draws) line += ", " + config::counted(coco.validation.pictures, "validation image", "validation images");
  if (one_file)
    line += ", no test images";
  else
    line += ", " + config::counted((draws ? second : coco.test).pictures, "test image", "test images");
  result.lines.push_back(line);
  ChosenValues chosen(request);
  chosen.add("data.transform.long_side", "images of at most " + std::to_string(longest) + " pixels");
  chosen.add("train.batch_size", "batch size " + std::to_string(batch));
  chosen.write(result);
}

std::string split_counts(const PreparedTexts& texts, const char* one, const char* many) {
  return config::counted(texts.train, one, many) + " to train with, " + std::to_string(texts.validation) +
         " to validate with, " + std::to_string(texts.test) + " to test with";
}

void add_prepared_lines(const PreparedTexts& texts, OwnRecipe& result) {
  result.lines.push_back("texts prepared in " + texts.folder.string() + ", as UTF-8" +
                         (texts.subwords ? ", with a subword model" : ""));
  result.lines.insert(result.lines.end(), texts.notes.begin(), texts.notes.end());
}

void write_text(const OwnDataRequest& request, const FoundData& found, RecipeText& recipe, OwnRecipe& result) {
  const PreparedTexts texts = prepare_text(found, request.prepared);
  constexpr int64_t kBytesOfAPiece = 4;
  const int64_t per_token = texts.subwords ? kBytesOfAPiece : 1;
  const int64_t tokens = texts.train_bytes / per_token, held_out = texts.validation_bytes / per_token;
  constexpr int64_t kTarget = 64;
  const int64_t batch = std::clamp<int64_t>(tokens / (4 * kTarget), 1, 16),
                lanes = std::clamp<int64_t>(held_out / (2 * kTarget), 1, 4);
  const int64_t segments = std::max<int64_t>(batch, tokens / kTarget);
  recipe.table("task");
  recipe.set("kind", "language_modelling");
  recipe.table("task.evaluation");
  recipe.set("lanes", lanes);
  recipe.table("data");
  recipe.set("root", root_of(texts.folder));
  recipe.set("tokens", texts.subwords ? "subwords" : "bytes");
  if (texts.subwords) recipe.set("vocabulary", *texts.subwords);
  recipe.set("workers", 1);
  recipe.table("model");
  recipe.set("name", request.model);
  recipe.set("cutoffs", std::vector<int64_t>());
  recipe.set("target_length", kTarget);
  recipe.set_training(segments, epochs_for(segments, batch, 3'000, 40), batch, 1e-3);
  const char* tokens_text = texts.subwords ? " subwords" : " bytes";
  result.lines.push_back("text: " + split_counts(texts, "line", "lines"));
  add_prepared_lines(texts, result);
  ChosenValues chosen(request);
  chosen.add("data.vocabulary",
             "a vocabulary of " + std::to_string(texts.subwords.value_or(data::kByteVocabulary)) + tokens_text);
  chosen.add("train.batch_size", "batch size " + std::to_string(batch));
  chosen.write(result);
}

void write_pairs(const OwnDataRequest& request, const FoundData& found, RecipeText& recipe, OwnRecipe& result) {
  const PreparedTexts texts = prepare_pairs(found, request.prepared);
  const bool tsv = found.pairs.source.empty();
  const std::string source = tsv ? "source" : found.pairs.source, target = tsv ? "target" : found.pairs.target;
  constexpr int64_t kTokensOfABatch = 2048, kTokensOfAPair = 32;
  const int64_t most = std::clamp<int64_t>(texts.train * kTokensOfAPair / 8, 512, kTokensOfABatch);
  const int64_t pairs_of_batch = most / kTokensOfAPair;
  recipe.table("task");
  recipe.set("kind", "translation");
  recipe.set("label_smoothing", 0.1);
  recipe.table("task.evaluation");
  recipe.set("beam", 4);
  recipe.table("data");
  recipe.set("root", root_of(texts.folder));
  recipe.set("source", source);
  recipe.set("target", target);
  recipe.set("train", std::vector<std::string>{"train"});
  recipe.set("validation", std::vector<std::string>{"valid"});
  recipe.set("test", std::vector<std::string>{"test"});
  recipe.set("vocabulary", texts.subwords.value_or(0));
  recipe.set("max_length", 128);
  recipe.set("max_tokens", most);
  recipe.set("workers", 1);
  recipe.table("model");
  recipe.set("name", request.model);
  const int64_t epochs = epochs_for(texts.train, pairs_of_batch, 3'000, 40);
  const int64_t own_pairs =
      std::min(std::max<int64_t>(1, number_setting(request.settings, "data.max_tokens", most) / kTokensOfAPair),
               number_setting(request.settings, "data.max_samples", texts.train));
  recipe.set_translation(texts.train, own_pairs, epochs);
  result.lines.push_back("pairs of sentences (" + source + " to " + target +
                         "): " + split_counts(texts, "pair", "pairs"));
  add_prepared_lines(texts, result);
  ChosenValues chosen(request);
  chosen.add("data.vocabulary", "a vocabulary of " + std::to_string(texts.subwords.value_or(0)) + " subwords");
  if (!setting_of(request.settings, "data.max_samples"))
    chosen.add("data.max_tokens", "batches of " + std::to_string(most) + " tokens");
  chosen.write(result);
}

void write_labelled(const OwnDataRequest& request, const FoundData& found, RecipeText& recipe, OwnRecipe& result) {
  const PreparedTexts texts = prepare_labelled_texts(found, request.prepared);
  const int64_t length = std::clamp<int64_t>((texts.usual_length + 63) / 64 * 64, 64, 1024);
  const int64_t batch = std::clamp<int64_t>(texts.train / 8, 2, 32);
  recipe.table("task");
  recipe.set("kind", "sequence_classification");
  recipe.table("data");
  recipe.set("kind", "texts");
  recipe.set("root", root_of(texts.folder));
  recipe.set("class_names", texts.class_names);
  recipe.set("max_length", length);
  recipe.set("workers", 1);
  recipe.table("model");
  recipe.set("name", request.model);
  recipe.set_training(texts.train, epochs_for(texts.train, batch, 1'500, 30), batch, 5e-4);
  result.lines.push_back("labelled texts: " + config::counted(std::ssize(texts.class_names), "class", "classes") +
                         ", " + split_counts(texts, "text", "texts"));
  add_prepared_lines(texts, result);
  ChosenValues chosen(request);
  chosen.add("data.max_length", "the first " + std::to_string(length) + " bytes of a text");
  chosen.add("train.batch_size", "batch size " + std::to_string(batch));
  chosen.write(result);
}

/// The kind that the model can be trained on, first among those that fit.
OwnDataKind chosen_kind(const OwnDataRequest& request, const FoundData& found) {
  for (const OwnDataKind kind : found.kinds)
    if (model_can(request.model, task_of(kind).needs)) return kind;
  std::string kinds, wanted;
  for (const OwnDataKind kind : found.kinds) kinds += (kinds.empty() ? "" : " or ") + to_text(kind);
  for (const OwnTask& task : kOwnTasks)
    if (wanted.empty() && model_can(request.model, task.needs))
      wanted = std::string(task.trains) + ", which learns from " + to_text(task.data);
  if (wanted.empty()) wanted = "only a part of other models, so it cannot be trained by itself";
  const bool one_of_two =
      fs::is_regular_file(request.data) && model_can(request.model, task_of(OwnDataKind::pairs).needs);
  throw std::invalid_argument(
      request.data.string() + " contains " + kinds + ", but " + request.model + " is " + wanted +
      (one_of_two ? "; if the translations are in another file, give the folder that contains both files"
                  : "; `cachet models` lists other models"));
}

}  // namespace

OwnRecipe make_own_recipe(const OwnDataRequest& request) {
  FoundData found = find_own_data(request.data);
  const OwnDataKind kind = chosen_kind(request, found);
  const bool several = found.kinds.size() > 1;
  std::erase(found.kinds, kind);
  const std::string other = several ? to_text(found.kinds.front()) : "";
  found.kinds.insert(found.kinds.begin(), kind);
  OwnRecipe result;
  std::string stem = fs::absolute(request.data).lexically_normal().filename().stem().string();
  if (stem.empty()) stem = fs::absolute(request.data).lexically_normal().parent_path().filename().string();
  result.name = request.model + "-" + stem;
  RecipeText recipe(request, found);
  switch (kind) {
    case OwnDataKind::images:
    case OwnDataKind::shards:
      write_images(request, found, recipe, result);
      break;
    case OwnDataKind::coco:
      write_coco(request, found, recipe, result);
      break;
    case OwnDataKind::text:
      write_text(request, found, recipe, result);
      break;
    case OwnDataKind::pairs:
      write_pairs(request, found, recipe, result);
      break;
    case OwnDataKind::labelled_texts:
      write_labelled(request, found, recipe, result);
      break;
  }
  if (several)
    result.lines.front() +=
        "; the data could also be read as " + other + ", but " + request.model + " is " + task_of(kind).trains;
  result.text = recipe.text();
  return result;
}

}  // namespace cachet::tasks
