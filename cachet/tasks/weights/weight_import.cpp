#include "cachet/tasks/weights/weight_import.h"

#include <ATen/ops/allclose.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include "cachet/io/error.h"
#include "cachet/io/tensors/names/name_pattern.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/detection/object_detector.h"
#include "cachet/models/language/language_model.h"
#include "cachet/models/vision/image_classifier.h"
#include "cachet/models/vision/position_table.h"
#include "cachet/nn/layers/positions.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/table_fitting.h"
#include "cachet/tasks/weights/tensor_parts.h"
#include "cachet/train/checkpoints/checkpoint.h"
#include "cachet/train/checkpoints/checkpoint_store.h"

namespace cachet::tasks {
namespace {

using Report = WeightImportReport;
using Strings = std::vector<std::string>;

// What plain models do not have: parts of plug-ins, in the names that these give them.
constexpr std::array<std::string_view, 11> kNewParts{"**.memory_attention.**", "**.cache.**",          "**.share",
                                                     "**.position.weight",     "**.position.bias",     "**.function.**",
                                                     "**statistics",           "**counters",           "**running_mean",
                                                     "**running_var",          "**num_batches_tracked"};

bool is_new_part(const std::string& name) {
  static const std::vector<io::NamePattern> patterns(kNewParts.begin(), kNewParts.end());
  return std::ranges::any_of(patterns, [&name](const auto& pattern) { return pattern.match(name).has_value(); });
}

constexpr std::string_view kBackbone = "backbone.";

/// Whether these are weights of a classifier, for a detector that has it as its backbone.
bool fill_backbone_alone(const torch::nn::Module& model, const io::TensorMap& weights) {
  return dynamic_cast<const models::ObjectDetector*>(&model) != nullptr &&
         std::ranges::none_of(weights, [](const auto& item) { return item.first.starts_with(kBackbone); });
}

io::TensorMap below_backbone(const io::TensorMap& weights) {
  io::TensorMap moved;
  for (const auto& [name, tensor] : weights) moved.emplace(std::string(kBackbone) + name, tensor);
  return moved;
}

/// What a classifier has next to its pyramid: `norm`, `head`, a class token; below `backbone.`.
bool classifies(std::string_view name) {
  name.remove_prefix(kBackbone.size());
  constexpr std::array<std::string_view, 3> kParts{"norm", "head", "head_dist"};
  return name.ends_with("cls_token") || std::ranges::find(kParts, name.substr(0, name.find('.'))) != kParts.end();
}

/// Layers with rows for each class: a classifier's heads, and the last layers of a detector.
bool has_rows_of_classes(const std::string& name) {
  constexpr std::array<std::string_view, 6> kLayers{"head.",
                                                    "head_dist.",
                                                    "roi_head.bbox_head.fc_cls.",
                                                    "roi_head.bbox_head.fc_reg.",
                                                    "roi_head.mask_head.conv_logits.",
                                                    "bbox_head.retina_cls."};
  return std::ranges::any_of(kLayers, [&name](std::string_view layer) { return name.starts_with(layer); });
}

std::string shape_text(at::IntArrayRef shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

/// "3 missing (a, b, c)": the first few names, so that a message stays a line.
std::string counted(const std::string& what, const Strings& names) {
  constexpr size_t kShown = 4;
  std::string text = std::to_string(names.size()) + " " + what + " (";
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > kShown ? ", …)" : ")");
}

// T2T-ViT's code saves the positions that it computes, as ours does. Learned ones stay, and do not fit the model.
void drop_computed_positions(io::TensorMap& weights) {
  constexpr double kRoundings = 1e-5;  // of other libraries' sines; a learned table is nowhere near
  const auto found = weights.find("pos_embed");
  if (found == weights.end() || found->second.dim() != 3 || !found->second.is_floating_point()) return;
  const at::Tensor& table = found->second;
  const at::Tensor computed = nn::sinusoidal_positions(table.size(1), table.size(2));
  if (at::allclose(table.to(at::kFloat), computed, /*rtol=*/0, kRoundings)) weights.erase(found);
}

// The name that a plain model has for a parameter of a cached one's self-attention.
std::string plain_name(const std::string& name) {
  constexpr std::string_view kInner = ".self_attention.";
  const size_t at = name.find(kInner);
  return at == std::string::npos ? name : name.substr(0, at + 1) + name.substr(at + kInner.size());
}

io::WeightsFile read_weights(const std::filesystem::path& path, const WeightImportOptions& options) {
  if (!std::filesystem::is_directory(path)) return io::read_weights_file(path, options.key);
  io::WeightsFile weights;
  weights.tensors =
      is_model_folder(path) ? read_model_folder(path) : train::read_weights(train::hold_checkpoint(path).folder);
  return weights;
}

/// The images that the weights of a run or a model folder were made for; a file does not have them.
std::optional<models::ImageShape> image_of_source(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return std::nullopt;
  return models::image_of(open_saved_run(path).plan.model().input);
}

/// Finds a tensor of the file for each of the model's.
class WeightFit {
 public:
  WeightFit(const torch::nn::Module& model, const std::filesystem::path& path, const io::TensorMap& weights,
            bool other_names, Report& report)
      : path_(path), weights_(&weights), other_names_(other_names), report_(report) {
    for (auto* list : {io::distinct_parameters, io::distinct_buffers})
      for (const io::NamedTensor& named : list(model)) model_.emplace(named.name(), named);
    if (const auto* images = dynamic_cast<const models::ImageModel*>(&model)) image_ = images->image_shape();
    reads_positions_ = dynamic_cast<const models::LanguageModel*>(&model) != nullptr;
    of_classifier_ = fill_backbone_alone(model, weights);
    if (!of_classifier_) return;
    for (const io::NamedTensor& buffer : io::distinct_buffers(model))
      if (buffer.name().find(".cache.") != std::string::npos) cached_.insert(buffer.name());
    moved_ = below_backbone(weights);
    weights_ = &moved_;
  }

  io::TensorMap fitted() {
    for (const auto& [name, target] : model_) {
      fit(name, target);
      for (const std::string& other : target.names) fit_shared(other, target.tensor.sizes());
    }
    for (const auto& [name, tensor] : *weights_)
      if (!used_.contains(name))
        (of_classifier_ && classifies(name) ? report_.classifying : report_.left_over).push_back(name);
    return std::move(fitted_);
  }

  const Strings& misshapen() const { return misshapen_; }

 private:
  io::TensorMap::const_iterator find(const std::string& name) const {
    const auto found = weights_->find(name);
    return found == weights_->end() ? weights_->find(plain_name(name)) : found;
  }

  void fit(const std::string& name, const io::NamedTensor& target) {
    const at::IntArrayRef shape = target.tensor.sizes();
    auto found = weights_->end();
    for (auto each = target.names.begin(); found == weights_->end() && each != target.names.end(); ++each)
      found = find(*each);
    if (of_classifier_ && is_of_detector(name)) {
      if (found != weights_->end()) used_.emplace(found->first, found->second);
      report_.fresh.push_back({name, Report::Reason::of_detector});
      return;
    }
    if (found == weights_->end()) {
      if (is_new_part(name) && !(reads_positions_ && name.ends_with(".position.weight")))
        report_.fresh.push_back({name, Report::Reason::new_part});
      else
        report_.missing.push_back(name);
      return;
    }
    used_.emplace(found->first, found->second);
    const at::Tensor& tensor = found->second;
    if (other_names_ && has_rows_of_classes(name)) {
      report_.fresh.push_back({name, Report::Reason::other_classes});
    } else if (tensor.sizes() == shape) {
      put(name, tensor);
    } else if (auto table = resized(name, tensor, shape)) {
      report_.resized.push_back({name, tensor.sizes().vec(), shape.vec()});
      put(name, *table);
    } else if (has_rows_of_classes(name) && tensor.dim() == static_cast<int64_t>(shape.size()) &&
               tensor.sizes().slice(1) == shape.slice(1)) {
      report_.fresh.push_back({name, Report::Reason::other_classes});
    } else if (name.ends_with("cache.tokens")) {  // of another length: images or batches were others
      report_.fresh.push_back({name, Report::Reason::new_part});
    } else {
      report_.missing.push_back(name);
      misshapen_.push_back(name + " is " + shape_text(tensor.sizes()) + ", but the model has " + shape_text(shape));
    }
  }

  // What modules share may stand in the file under several names. Whether these are one tensor there, too, is asked
  // when they are loaded.
  void fit_shared(const std::string& name, at::IntArrayRef shape) {
    const auto found = find(name);
    if (found == weights_->end() || used_.contains(found->first) || found->second.sizes() != shape) return;
    used_.emplace(found->first, found->second);
    fitted_.emplace(name, found->second);
  }

  /// Its own parts, the norms of its maps among them, and what its caches hold.
  bool is_of_detector(const std::string& name) const {
    if (!name.starts_with(kBackbone) || cached_.contains(name)) return true;
    return name.substr(kBackbone.size()).starts_with("norm");
  }

  std::optional<at::Tensor> resized(const std::string& name, const at::Tensor& table, at::IntArrayRef shape) const {
    if (!image_) return std::nullopt;
    const auto before = name.ends_with("pos_embed") ? image_of_source(path_) : std::nullopt;
    return fit_position_table(name, table, shape, *image_, before);
  }

  void put(const std::string& name, const at::Tensor& tensor) {
    fitted_.emplace(name, tensor);
    report_.loaded.push_back(name);
  }

  std::map<std::string, io::NamedTensor> model_;  // by the first name, those that modules share once
  const std::filesystem::path& path_;
  std::optional<models::ImageShape> image_;  // tables of positions on a grid are resized to it
  bool reads_positions_ = false;  // its attention has a projection of distances, called as a cache's convolution is
  const io::TensorMap* weights_;
  bool other_names_;
  Report& report_;
  bool of_classifier_ = false;    // that fills a detector's backbone
  io::TensorMap moved_;           // its weights by their names there
  std::set<std::string> cached_;  // what caches of that backbone hold
  io::TensorMap fitted_, used_;
  Strings misshapen_;
};

void require_whole(const Report& report, const Strings& misshapen, const std::filesystem::path& path) {
  if (report.missing.empty() && report.left_over.empty()) return;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  Strings absent;
  std::ranges::copy_if(report.missing, std::back_inserter(absent), [&](const std::string& name) {
    return std::ranges::none_of(misshapen, [&](const auto& line) { return line.starts_with(name + " is "); });
  });
  if (!absent.empty()) add(counted("missing", absent));
  if (!misshapen.empty()) add(counted("of another shape", misshapen));
  if (!report.left_over.empty()) add(counted("left over", report.left_over));
  throw io::Error(path.string() + " does not fit the model: " + text +
                  ". The file may be of another model, or its tensors may not have the names of " +
                  std::string(io::to_string(report.source)) +
                  ". If you ask for a partial load, the tensors that fit are loaded");
}

}  // namespace

WeightImportReport import_weights(torch::nn::Module& model, const std::filesystem::path& path,
                                  const WeightImportOptions& options) {
  const io::WeightsFile file = read_weights(path, options);
  WeightImportReport report;
  report.format = file.format;
  report.key = file.key;
  report.prefix = file.prefix;
  report.other_names = options.other_names;
  report.not_tensors = file.not_tensors;
  report.source = options.source.value_or(io::recognize_names(file.tensors));
  io::TensorMap weights = io::to_our_names(report.source, file.tensors);
  if (report.source == io::NameSource::t2t) drop_computed_positions(weights);
  WeightFit fit(model, path, weights, options.other_names, report);
  const io::TensorMap fitted = fit.fitted();
  if (!options.partial) require_whole(report, fit.misshapen(), path);
  if (fitted.empty()) throw io::Error(path.string() + ": none of its tensors fits the model");
  io::require_finite(fitted, path.string());
  report.converted = io::load_state_dict(model, fitted, {.allow_missing = true}).converted;
  return report;
}

namespace {

using Report = WeightImportReport;

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string text;
  for (const int64_t size : sizes) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}

std::string named(const std::string& what, const std::vector<std::string>& names) {
  return what + " " + std::to_string(names.size()) + ": " + first_names(names);
}

std::string where_from(const Report& report) {
  std::string text = report.format == io::WeightsFile::Format::pytorch ? "PyTorch" : "safetensors";
  if (!report.key.empty()) text += ", under '" + report.key + "'";
  if (!report.prefix.empty()) text += ", without '" + report.prefix + "'";
  return text + ", names of " + std::string(io::to_string(report.source));
}

}  // namespace

std::vector<std::string> report_lines(const WeightImportReport& report, const std::filesystem::path& path) {
  std::vector<std::string> lines;
  const size_t all = report.loaded.size() + report.fresh.size() + report.missing.size();
  lines.push_back("loaded " + std::to_string(report.loaded.size()) + " of " + std::to_string(all) + " tensors from " +
                  path.string() + " (" + where_from(report) + ")");
  std::vector<std::string> resized, head, parts, of_detector;
  for (const auto& each : report.resized)
    resized.push_back(each.name + " (" + sizes_text(each.from) + " -> " + sizes_text(each.to) + ")");
  for (const auto& each : report.fresh) {
    const bool classes = each.reason == Report::Reason::other_classes;
    (classes ? head : each.reason == Report::Reason::new_part ? parts : of_detector).push_back(each.name);
  }
  const auto add = [&lines](const std::string& what, const std::vector<std::string>& names) {
    if (!names.empty()) lines.push_back(named(what, names));
  };
  add("resized", resized);
  add("converted", report.converted);
  add(report.other_names ? "new, because the classes have other names," : "new, because the number of classes differs,",
      head);
  add("new, because the model of the file does not have these parameters,", tensor_parts(parts));
  add("new, because the file is of a classifier,", tensor_parts(of_detector));
  add("left out, because only classifiers have them,", report.classifying);
  add("missing", report.missing);
  add("left over", report.left_over);
  add("not tensors, left out,", report.not_tensors);
  return lines;
}

}  // namespace cachet::tasks
