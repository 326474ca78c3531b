#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/train/runs/sample_words.h"

namespace cachet::train {

/// The description of a run, stored in its run.json when it begins: all that tables and pages need in addition to its
/// events. Code that shows a run does not build its model or read its recipe.
struct RunDescription {
  std::string task;  // as [task] kind has it: "image_classification"
  SampleWords words;
  std::string model;  // "vit_small_patch16_224"
  int64_t parameters = 0;
  int64_t linear_convolution_macs = 0, attention_macs = 0;  // of one sample; 0 where nobody counted them
  /// False if they were counted by an earlier rule, and are both kNoMacs.
  bool has_macs() const { return attention_macs != kNoMacs; }
  static constexpr int64_t kNoMacs = -1;
  std::vector<report::MetricDescription> metrics;
  /// Samples that the metric that decides is measured on, and those of their split; 0 if the run does not store it.
  int64_t evaluated = 0, split_size = 0;
  /// Keys and values of `[model]` that make the size of the model of this name, for the page; the folder does not store
  /// them.
  std::vector<std::pair<std::string, std::string>> named_sizes{};
  /// Whether the data that choose the best checkpoint are those that a test of the run reports.
  bool reports_choice = false;

  /// The number of samples of which a metric is a fraction; 0 if it is not a fraction, or if the run does not store it.
  int64_t samples_of(const report::MetricDescription& metric) const { return metric.share ? evaluated : 0; }

  bool operator==(const RunDescription&) const = default;
};

/// "64 of 10000 test images" if a limit leaves a part of the split, else "10000 test images".
std::string evaluated_text(const SampleWords& words, int64_t evaluated, int64_t split_size);

/// For those who read a result of a run that chose its best checkpoint on the data that measured it.
std::string choice_note(const SampleWords& words);

/// One JSON object, whose fields are only ever added to.
std::string to_json(const RunDescription& description);

/// Nothing for a text that is not a description. Missing fields have their defaults.
std::optional<RunDescription> run_description_from_json(const std::string& text);

/// The family (report/metric_description.h) of losses and their parts.
inline constexpr const char* kLossFamily = "losses";

/// What the trainer itself measures in each step, for those who show it: the penalties, "lr", "grad_norm".
const std::vector<report::MetricDescription>& trainer_metrics();

}  // namespace cachet::train
