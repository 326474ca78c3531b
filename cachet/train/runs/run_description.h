#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cachet/report/metric_description.h"
#include "cachet/train/runs/sample_words.h"
#include "cachet/train/step/metrics.h"

namespace cachet::train {

/// The description of a run, which run.json stores at the start. The description has everything that tables and pages
/// need except the run's events. Code that shows a run therefore needs neither to build the model nor to read the
/// recipe.
struct RunDescription {
  std::string task;  // value of [task] kind: "image_classification"
  SampleWords words;
  std::string model;  // "vit_small_patch16_224"
  int64_t parameters = 0;
  int64_t linear_convolution_macs = 0, attention_macs = 0;  // for one sample; 0 if not counted
  /// Returns false if an earlier version of Cachet counted the multiply-accumulates by another rule, so that
  /// linear_convolution_macs and attention_macs are kNoMacs.
  bool has_macs() const { return attention_macs != kNoMacs; }
  static constexpr int64_t kNoMacs = -1;
  std::vector<report::MetricDescription> metrics;
  /// The number of samples from which the deciding metric is computed, and the number of samples of the whole split.
  /// `evaluated` and `split_size` are 0 if the run does not store them.
  int64_t evaluated = 0, split_size = 0;
  /// Keys and values of `[model]` that define the size of the named model, to be shown on the run's page. The file
  /// run.json of a run does not store named_sizes.
  std::vector<std::pair<std::string, std::string>> named_sizes{};
  /// Whether the data for choosing the best checkpoint are also the run's test data.
  bool reports_choice = false;

  /// Returns the number of samples that an evaluation counts: `evaluated` without those that it skipped
  /// (kSkippedSamples). If the run does not store the number, returns 0.
  int64_t counted(const Metrics& evaluation) const;
  /// Returns the denominator of a metric of an evaluation that is a fraction of samples. If the metric is not a
  /// fraction, or if the run does not store the denominator, returns 0.
  int64_t samples_of(const report::MetricDescription& metric, const Metrics& evaluation) const {
    return metric.share ? counted(evaluation) : 0;
  }

  bool operator==(const RunDescription&) const = default;
};

/// The name of the number of samples that an evaluation skipped because they could not be read. Without skipped
/// samples, an evaluation has no such metric.
inline constexpr const char* kSkippedSamples = "skipped";

/// Returns the number of samples that an evaluation of `evaluated` samples counts: all except the skipped ones.
int64_t counted_samples(int64_t evaluated, const Metrics& evaluation);

/// Returns "64 of 10000 test images" if a limit leaves out samples, else "10000 test images".
std::string evaluated_text(const SampleWords& words, int64_t evaluated, int64_t split_size);

/// Returns the note for the results of a run whose best checkpoint was chosen on the data from which the results were
/// computed.
std::string choice_note(const SampleWords& words);

/// Writes the description as one JSON object. Later versions only add fields.
std::string to_json(const RunDescription& description);

/// Reads a description, or returns std::nullopt if it cannot be parsed. Missing fields have their defaults.
std::optional<RunDescription> run_description_from_json(const std::string& text);

/// The value of MetricDescription::family for losses and for parts of losses.
inline constexpr const char* kLossFamily = "losses";

/// Returns descriptions of the trainer's own metrics in each step: the penalties, "lr" and "grad_norm".
const std::vector<report::MetricDescription>& trainer_metrics();

}  // namespace cachet::train
