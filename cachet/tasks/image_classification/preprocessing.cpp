#include "cachet/tasks/image_classification/preprocessing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "cachet/io/error.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"
#include "cachet/report/format.h"
#include "cachet/tasks/normalization_text.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using CfgJson = nlohmann::json;

constexpr uint64_t kMostCfgBytes = 1 << 20;
constexpr const char* kCfg = "pretrained_cfg";

const char* interpolation_word(data::Interpolation interpolation) {
  return interpolation == data::Interpolation::bicubic ? "bicubic" : "bilinear";
}

Preprocessing of_saved(const fs::path& path) {
  const SavedRun saved = open_saved_run(path);
  const auto* images = dynamic_cast<const PreparesImages*>(saved.plan.task.get());
  if (images == nullptr)
    throw std::invalid_argument(path.string() + " is a model of another kind; one of images is needed here");
  return images->preprocessing();
}

/// The numbers of timm's `pretrained_cfg`, an object that anybody may have written.
class TimmCfg {
 public:
  TimmCfg(const CfgJson& cfg, std::string file) : cfg_(cfg), file_(std::move(file)) {}

  Preprocessing read(Preprocessing defaults, int64_t channels) const {
    const auto mean = numbers("mean", 0, 1), deviation = numbers("std", 1e-6, 1e6);
    if (mean.has_value() != deviation.has_value()) fail(mean ? "std" : "mean");
    if (mean) defaults.normalization = normalization_options({*mean, *deviation}, channels);
    if (const auto fraction = numbers("crop_pct", 0.1, 1)) defaults.resize.crop_fraction = fraction->front();
    if (cfg_.contains("interpolation")) {
      const auto& word = cfg_["interpolation"];
      if (word != "bicubic" && word != "bilinear") fail("interpolation");
      defaults.resize.interpolation = word == "bicubic" ? data::Interpolation::bicubic : data::Interpolation::bilinear;
    }
    return defaults;
  }

 private:
  [[noreturn]] void fail(const char* key) const {
    throw io::Error(file_ + ": " + kCfg + "." + key +
                    " is not what timm writes; mend it, or move the weights out of its folder");
  }

  // One number or three, each within the bounds.
  std::optional<std::vector<double>> numbers(const char* key, double least, double most) const {
    const auto found = cfg_.find(key);
    if (found == cfg_.end() || found->is_null()) return std::nullopt;
    const CfgJson list = found->is_array() ? *found : CfgJson::array({*found});
    std::vector<double> values;
    for (const CfgJson& item : list) {
      if (!item.is_number() || !(item.get<double>() >= least && item.get<double>() <= most)) fail(key);
      values.push_back(item.get<double>());
    }
    if (values.size() != 1 && values.size() != 3) fail(key);
    return values;
  }

  const CfgJson& cfg_;
  std::string file_;
};

std::optional<Preprocessing> beside(const fs::path& weights, const Preprocessing& defaults, int64_t channels) {
  const fs::path file = weights.parent_path() / "config.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  const auto json = io::parse_json<CfgJson>(io::read_text_file(file, kMostCfgBytes), /*throws=*/false);
  const auto found = json.is_object() ? json.find(kCfg) : json.end();
  if (!json.is_object() || found == json.end() || !found->is_object()) return std::nullopt;  // another program's
  return TimmCfg(*found, file.string()).read(defaults, channels);
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
  return beside(weights, published, model.image.channels).value_or(published);
}

Preprocessing read_preprocessing(const config::View& data, const models::ImageClassifierPlan& model,
                                 const Preprocessing& defaults) {
  data::DatasetOptions images;
  images.kind = &data::kClassFolders;
  images.classes = model.classes;
  images.folders.channels = model.image.channels == 1 ? 1 : 3;
  data::read_image_kind(data, images);
  return {data::read_normalization_options(data.table("normalization"), defaults.normalization),
          data::read_resize_options(data.table("resize"), defaults.resize)};
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
                     " (" + interpolation_word(resize.interpolation) + "), middle " + std::to_string(height) +
                     (square ? "" : " x " + std::to_string(width));
  if (!preprocessing.normalization.mean.empty())
    text += ", " + normalization_text(preprocessing.normalization.mean, preprocessing.normalization.std);
  return text;
}

}  // namespace cachet::tasks
