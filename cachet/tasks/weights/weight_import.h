#pragma once

#include <torch/nn/module.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cachet/io/tensors/names/name_source.h"
#include "cachet/io/tensors/weights_file.h"

namespace cachet::tasks {

struct WeightImportOptions {
  std::optional<io::NameSource> source;  // source of the names; if unset, it is recognised
  std::string key;                       // key in a checkpoint's dictionary; if empty, the first of the usual keys
  bool partial = false;                  // whether tensors of the model or the file may lack a counterpart
  bool other_names = false;              // whether file and model have different classes, even if equally many
};

/// The result of importing a file's weights. By default, names of tensors are Cachet's.
struct WeightImportReport {
  struct Resized {
    std::string name;
    std::vector<int64_t> from, to;
  };
  enum class Reason {
    other_classes,
    new_part,
    of_detector,  // the detector's own parts and its caches' contents, if the file is a classifier's
  };
  struct Fresh {
    std::string name;
    Reason reason;
  };
  io::WeightsFile::Format format = io::WeightsFile::Format::safetensors;
  io::NameSource source = io::NameSource::timm;
  bool other_names = false;              // WeightImportOptions::other_names of the import
  std::string key, prefix;               // the members of the same names in io::WeightsFile
  std::vector<std::string> loaded;       // loaded tensors, including resized tensors
  std::vector<std::string> converted;    // "head.weight: Half -> Float"
  std::vector<Resized> resized;          // resized position tables
  std::vector<Fresh> fresh;              // tensors expected to be new: head of other classes, cache, norm state
  std::vector<std::string> missing;      // tensors of the model that the file lacks for an unknown reason
  std::vector<std::string> left_over;    // tensors of the file without a counterpart in the model
  std::vector<std::string> classifying;  // classifying parts of a classifier that fills a detector's backbone
  std::vector<std::string> not_tensors;  // entries of the file other than tensors

  /// Returns the names of the model's tensors that have their initial values: those in `fresh` and in `missing`.
  std::vector<std::string> untrained() const {
    std::vector<std::string> names = missing;
    for (const Fresh& each : fresh) names.push_back(each.name);
    return names;
  }

  /// Whether the layers that score classes start with random weights, because model and file differ in classes.
  bool starts_classes_anew() const {
    return std::ranges::any_of(fresh, [](const Fresh& each) { return each.reason != Reason::new_part; });
  }
};

/// Fills a model with weights of a file (safetensors or PyTorch's, of any origin), a run, a checkpoint or a model
/// folder. If the file has plain attention, its weights fill the self-attention of cached attention. Parts that a plain
/// model lacks start with their initial values: the cache and its gates, λ, statistics of norms, trained kernels, and a
/// head of another number of classes. If a classifier's file fills the backbone of a detector, gates and λ are from the
/// file, but the caches stay empty. Throws io::Error and leaves the model unchanged if a weight is NaN or infinity. If
/// `partial` is not set, also throws if a weight of any other part is missing, superfluous or of another shape.
WeightImportReport import_weights(torch::nn::Module& model, const std::filesystem::path& path,
                                  const WeightImportOptions& options = {});

/// Returns the report as lines for people, without full stops: "loaded 152 of 152 tensors from deit.pth (PyTorch, under
/// 'model', names of timm)", then a line for each list that is not empty.
std::vector<std::string> report_lines(const WeightImportReport& report, const std::filesystem::path& path);

}  // namespace cachet::tasks
