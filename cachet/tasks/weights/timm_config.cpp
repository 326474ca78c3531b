#include "cachet/tasks/weights/timm_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cachet/config/counted.h"
#include "cachet/data/class_matching.h"
#include "cachet/io/error.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/json/parse_json.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using TimmJson = nlohmann::json;

constexpr uint64_t kMaxBytes = uint64_t{8} << 20;  // names of 22,000 classes take less than one
constexpr const char* kTable = "pretrained_cfg";
constexpr const char* kNames = "label_names";
constexpr const char* kArchitecture = "architecture";
constexpr const char* kRemedy = "; correct the file, or move the weights out of its folder";
constexpr std::array kImageKeys{"mean", "std", "crop_pct", "crop_mode", "interpolation"};

class TimmConfig {
 public:
  static std::optional<TimmConfig> next_to(const fs::path& weights);
  Preprocessing preprocessing(Preprocessing defaults, int64_t channels) const;
  std::vector<std::string> class_names(int64_t classes) const;
  std::optional<TimmModel> model() const;

 private:
  TimmConfig(TimmJson config, std::string file);

  [[noreturn]] void fail_at(const std::string& key, const std::string& problem) const;  // of the whole file
  [[noreturn]] void fail(const char* key, const std::string& problem) const;            // of the keys about images
  std::optional<std::vector<double>> numbers(const char* key, double least, double most) const;
  std::optional<std::string> word(const char* key) const;
  static std::string whole_size(const TimmJson& value);  // "" for another value

  TimmJson config_, images_;  // the whole file; the object with the keys about images
  std::string file_, table_;
};

TimmConfig::TimmConfig(TimmJson config, std::string file) : config_(std::move(config)), file_(std::move(file)) {
  const auto nested = config_.find(kTable);
  if (nested == config_.end()) {
    images_ = config_;
    return;
  }
  if (!nested->is_object()) fail(kTable, "must be an object");
  images_ = *nested;
  table_ = std::string(kTable) + ".";
}

std::optional<TimmConfig> TimmConfig::next_to(const fs::path& weights) {
  const fs::path file = weights.parent_path() / "config.json";
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  TimmJson json = io::parse_json<TimmJson>(io::read_text_file(file, kMaxBytes), /*throws=*/false);
  if (json.is_discarded())
    throw io::Error(file.string() +
                    ": is not valid JSON, but may describe the preparation of images for these weights" + kRemedy);
  const bool is_timms =
      json.is_object() && (json.contains(kTable) || json.contains(kNames) ||
                           std::ranges::any_of(kImageKeys, [&](const char* key) { return json.contains(key); }));
  if (!is_timms) return std::nullopt;
  return TimmConfig(std::move(json), file.string());
}

Preprocessing TimmConfig::preprocessing(Preprocessing defaults, int64_t channels) const {
  const auto mean = numbers("mean", 0, 1), deviation = numbers("std", 1e-6, 1e6);
  if (mean.has_value() != deviation.has_value()) fail(mean ? "std" : "mean", "is missing");
  if (mean) defaults.normalization = normalization_options({*mean, *deviation}, channels);
  if (const auto fraction = numbers("crop_pct", 0.1, 1)) defaults.resize.crop_fraction = fraction->front();
  if (const auto mode = word("crop_mode"); mode && *mode != "center")
    throw io::Error(
        file_ + ": " + table_ + "crop_mode is " + io::in_quotes(*mode) +
        ", but only 'center' is supported, which keeps the proportions of an image and crops its center. If " +
        "you write 'center' in the file, images that are not square get other results than in timm");
  if (const auto filter = word("interpolation")) {
    const auto* known = std::ranges::find(data::kInterpolations, *filter, &config::Choice<data::Interpolation>::word);
    if (known == data::kInterpolations.end())
      fail("interpolation", "must be bilinear, bicubic or lanczos, got " + io::in_quotes(*filter));
    defaults.resize.interpolation = known->value;
  }
  return defaults;
}

std::vector<std::string> TimmConfig::class_names(int64_t classes) const {
  // timm writes them at the top level, and into the table if it saves a model again that it read from such a folder.
  const bool at_top = config_.contains(kNames) && !config_.at(kNames).is_null();
  const std::string key = at_top ? kNames : table_ + kNames;
  const TimmJson list = (at_top ? config_ : images_).value(kNames, TimmJson());
  if (list.is_null()) return {};
  const auto is_text = [](const TimmJson& name) { return name.is_string(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_text)) fail_at(key, "must be a list of texts");
  if (classes >= 0 && static_cast<int64_t>(list.size()) != classes)
    fail_at(key, "has " + config::counted(list.size(), "name") + ", but the weights have " +
                     config::counted(classes, "class", "classes"));
  const auto names = list.get<std::vector<std::string>>();
  return data::can_be_stored(names) ? names : std::vector<std::string>();
}

// Current files have the architecture at the top level, older ones in the table.
std::optional<TimmModel> TimmConfig::model() const {
  const TimmJson& place = config_.contains(kArchitecture) ? config_ : images_;
  const auto name = place.find(kArchitecture);
  if (name == place.end() || !name->is_string()) return std::nullopt;
  TimmModel model{name->get<std::string>()};
  for (const TimmJson* each : {&config_, &images_}) {
    const auto classes = each->find("num_classes");
    if (classes == each->end() || *classes == 0) continue;  // 0: weights without a head
    const std::string text = whole_size(*classes);
    if (text.empty()) fail("num_classes", "must be a whole number from 1 to 1000000");
    model.settings.push_back("model.classes=" + text);
    break;
  }
  if (const auto size = images_.find("input_size"); size != images_.end() && !size->is_null()) {
    const bool has_three = size->is_array() && size->size() == 3;
    const std::string height = has_three ? whole_size((*size)[1]) : "", width = has_three ? whole_size((*size)[2]) : "";
    if (height.empty() || width.empty()) fail("input_size", "must be [channels, height, width]");
    model.settings.push_back("model.image_size=" + (height == width ? height : "[" + height + "," + width + "]"));
  }
  return model;
}

std::string TimmConfig::whole_size(const TimmJson& value) {
  constexpr int64_t kMaxSize = 1'000'000;
  if (!value.is_number_unsigned() || value.get<uint64_t>() < 1 || value.get<uint64_t>() > kMaxSize) return {};
  return std::to_string(value.get<uint64_t>());
}

void TimmConfig::fail_at(const std::string& key, const std::string& problem) const {
  throw io::Error(file_ + ": " + key + " " + problem + kRemedy);
}

void TimmConfig::fail(const char* key, const std::string& problem) const { fail_at(table_ + key, problem); }

// One number or three, each within the bounds.
std::optional<std::vector<double>> TimmConfig::numbers(const char* key, double least, double most) const {
  const auto found = images_.find(key);
  if (found == images_.end() || found->is_null()) return std::nullopt;
  const TimmJson list = found->is_array() ? *found : TimmJson::array({*found});
  std::vector<double> values;
  for (const TimmJson& item : list) {
    if (!item.is_number() || !(item.get<double>() >= least && item.get<double>() <= most))
      fail(key, "must be a number in the valid range");
    values.push_back(item.get<double>());
  }
  if (values.size() != 1 && values.size() != 3) fail(key, "must be one number or three numbers");
  return values;
}

std::optional<std::string> TimmConfig::word(const char* key) const {
  const auto found = images_.find(key);
  if (found == images_.end() || found->is_null()) return std::nullopt;
  if (!found->is_string()) fail(key, "must be a text");
  return found->get<std::string>();
}

}  // namespace

std::optional<Preprocessing> timm_preprocessing(const fs::path& weights, const Preprocessing& defaults,
                                                int64_t channels) {
  const auto config = TimmConfig::next_to(weights);
  return config ? std::optional(config->preprocessing(defaults, channels)) : std::nullopt;
}

std::optional<TimmModel> timm_model(const fs::path& weights) {
  const auto config = TimmConfig::next_to(weights);
  return config ? config->model() : std::nullopt;
}

std::vector<std::string> timm_class_names(const fs::path& weights, int64_t classes) {
  const auto config = TimmConfig::next_to(weights);
  return config ? config->class_names(classes) : std::vector<std::string>();
}

}  // namespace cachet::tasks
