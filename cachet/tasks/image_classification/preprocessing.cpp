#include "cachet/tasks/image_classification/preprocessing.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/config/toml_text.h"
#include "cachet/report/format.h"
#include "cachet/tasks/normalization_text.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/timm_config.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

std::string interpolation_word(data::Interpolation interpolation) {
  return std::string(
      std::ranges::find(data::kInterpolations, interpolation, &config::Choice<data::Interpolation>::value)->word);
}

Preprocessing of_saved(const fs::path& path) {
  const SavedRun saved = open_saved_run(path);
  const auto* images = dynamic_cast<const PreparesImages*>(saved.plan.task.get());
  if (images == nullptr)
    throw std::invalid_argument(path.string() + " is not a model for images, but a model for images is needed");
  return images->preprocessing();
}

}  // namespace

data::NormalizationOptions normalization_options(const data::Normalization& normalization, int64_t channels) {
  if (channels != 1 && channels != 3) return {};
  const data::Normalization fitting =
      channels == 1 && normalization.mean.size() == 3 ? normalization.of_grey() : normalization;
  return {.mean = fitting.mean, .std = fitting.std};
}

Preprocessing published_preprocessing(io::NameSource source, std::string_view model, const models::ImageShape& image) {
  // DeiT's authors took timm's names and 7/8.
  const bool timms = source == io::NameSource::timm && !model.starts_with("deit_");
  const data::Normalization imagenet{{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}},
      half{{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  Preprocessing result;
  result.normalization = normalization_options(timms && model.starts_with("vit_") ? half : imagenet, image.channels);
  result.resize.image_size = {image.height, image.width};
  result.resize.crop_fraction = timms || source == io::NameSource::t2t ? 0.9 : 0.875;
  return result;
}

Preprocessing preprocessing_of(const fs::path& weights, io::NameSource source,
                               const models::ImageClassifierPlan& model) {
  Preprocessing published = published_preprocessing(source, model.name, model.image);
  if (fs::is_directory(weights)) {
    published = of_saved(weights);
    published.resize.image_size = {model.image.height, model.image.width};
    return published;
  }
  if (is_model_file(weights)) return preprocessing_of(weights.parent_path(), source, model);
  return timm_preprocessing(weights, published, model.image.channels).value_or(published);
}

Preprocessing read_preprocessing(const config::View& data, const models::ImageClassifierPlan& model,
                                 const Preprocessing& defaults) {
  data::DatasetOptions images;
  images.kind = &data::kClassFolders;
  images.classes = model.classes;
  images.folders.channels = model.image.channels == 1 ? 1 : 3;
  data::read_image_kind(data, images);
  if (const auto named = static_cast<int64_t>(images.class_names.size()); named > 0 && named != model.classes)
    data.problem("class_names", "lists " + config::counted(named, "class", "classes") + ", but the model has " +
                                    std::to_string(model.classes));
  return {data::read_normalization_options(data.table("normalization"), defaults.normalization),
          data::read_resize_options(data.table("resize"), defaults.resize)};
}

std::vector<std::string> normalization_settings(const data::NormalizationOptions& normalization) {
  if (normalization.mean.empty()) return {};
  return {"data.normalization.mean=" + config::toml_text(normalization.mean),
          "data.normalization.std=" + config::toml_text(normalization.std)};
}

std::vector<std::string> resize_settings(const data::ResizeOptions& resize) {
  return {"data.resize.crop_fraction=" + config::toml_text(resize.crop_fraction),
          "data.resize.interpolation=" + config::toml_text(interpolation_word(resize.interpolation))};
}

std::string to_json(const Preprocessing& preprocessing) {
  const data::NormalizationOptions& normalization = preprocessing.normalization;
  const auto values = [](const std::vector<double>& list) {
    return list.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(list);
  };
  return nlohmann::ordered_json{{"mean", values(normalization.mean)},
                                {"std", values(normalization.std)},
                                {"crop_fraction", preprocessing.resize.crop_fraction},
                                {"interpolation", interpolation_word(preprocessing.resize.interpolation)}}
      .dump();
}

std::string to_text(const Preprocessing& preprocessing) {
  const data::ResizeOptions& resize = preprocessing.resize;
  const auto covered = [&](int64_t side) {
    return report::format_number(std::floor(static_cast<double>(side) / resize.crop_fraction + 1e-9), 4);
  };
  const auto [height, width] = std::pair(resize.image_size.height, resize.image_size.width);
  const bool square = height == width;
  std::string text = "resized to " + (square ? covered(height) : "cover " + covered(height) + " x " + covered(width)) +
                     " (" + interpolation_word(resize.interpolation) + "), center crop " + std::to_string(height) +
                     (square ? "" : " x " + std::to_string(width));
  if (!preprocessing.normalization.mean.empty())
    text += ", " + normalization_text(preprocessing.normalization.mean, preprocessing.normalization.std);
  return text;
}

}  // namespace cachet::tasks
