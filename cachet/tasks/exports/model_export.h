#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cachet/analysis/cost/model_summary.h"
#include "cachet/deploy/equality.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/exports/export_speed.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {

struct ExportOptions {
  runtime::EngineKind engine = runtime::EngineKind::openvino;
  runtime::Precision precision = runtime::Precision::float32;
  /// Whether to compare the export with its model on all evaluation data, including the accuracy, instead of on a
  /// sample drawn by data.subset_seed. For int8, the comparison always uses all evaluation data.
  bool check_all = false;
};

/// The slow parts of an export: calibration for 8 bits, which runs the model on samples, and the comparison.
enum class ExportPart { calibration, comparison };
const char* to_string(ExportPart part);  // "calibrate", "compare"

/// A function that is called with the progress of one part of an export.
using ExportProgress = std::function<void(ExportPart part, int64_t done, int64_t total)>;

/// The largest allowed differences between an export of some precision and its model.
struct ExportTolerance {
  deploy::Tolerance answers{};  // tolerance for evaluation samples
  double metric = 0;            // tolerance of the deciding metric: absolute for accuracies, relative for others

  /// Returns the tolerance for the comparison on inputs like those of users (ExportCheck::sent_inputs). The most likely
  /// class may change for any number of the inputs, because their two most likely classes may have nearly equal scores.
  deploy::Tolerance sent() const { return {answers.log_probability, 1}; }
};
ExportTolerance export_tolerance(runtime::Precision precision);

/// The differences between the results of an export and the results of its model.
struct ExportCheck {
  std::string samples;  // "256 test images", "256 random inputs, none of them from the data"
  ExportTolerance tolerance;
  deploy::Equality equality;
  std::string sent_inputs;                     // "19 single inputs and small batches and 6 image files", of classifiers
  deploy::Equality sent;                       // result for `sent_inputs`; no samples if not a classifier
  deploy::DecisionWords words;                 // words that describe `equality`
  std::string metric = "top1";                 // the deciding metric; a classifier's accuracy
  double metric_before = 0, metric_after = 0;  // values of the metric, if all evaluation data were compared
  bool has_metric = false;

  /// Returns the bounds that the results exceed, each as a clause: "accuracy may change by at most 0.002".
  std::vector<std::string> broken_bounds() const;
  bool holds() const { return broken_bounds().empty(); }
};

struct ExportReport {
  runtime::ExportManifest manifest;
  deploy::RewriteReport rewrite;
  std::vector<analysis::LayerSummary> layers_before, layers_after;
  std::vector<std::string> notes;
  ExportCheck check;
  ExportSpeed speed;
  int64_t bytes = 0;        // bytes of all files of the folder except export.json and the report
  int64_t model_bytes = 0;  // bytes of the loaded weights and state of the model
};

/// The source of an export.
struct ExportSource {
  std::filesystem::path path;         // argument of open_saved_run()
  std::vector<std::string> settings;  // settings that replace values of the source's recipe

  /// Returns the members of `settings` that an export does not fix (fixed_key()). For example, the result has no
  /// settings of [model], because the export includes the model.
  std::vector<std::string> settings_of_export() const;
};

/// Throws std::invalid_argument with a line for the user if the engine does not have the precision.
void check_export_options(const ExportOptions& options);

/// Rewrites a model (deploy/rewrite.h) and writes it for an engine into a folder. The folder appears, or replaces an
/// existing folder, atomically. Before the folder appears, compares the results of the export with the results of the
/// model in float32: on evaluation data if they can be read, otherwise on noise. After the comparison, measures the
/// times of the export and of the model. Throws the errors of check_export_options(); std::runtime_error if the
/// difference exceeds the tolerance (the message states it) or the engine cannot take or run the model (the message
/// names another engine); ops::NotFinite if the model returns NaN or infinity; io::Error if a file cannot be read or
/// written.
ExportReport export_model(const ExportSource& source, const ExportOptions& options, const std::filesystem::path& folder,
                          const ExportProgress& progress);

/// Returns the source as the export names it: "run 1f0c…", "model 9f86…".
std::string export_source(const SavedRun& saved);

/// Returns lines for people: parts that were removed, parts that remain (and why), and the differences of the results.
std::vector<std::string> report_lines(const ExportReport& report);

}  // namespace cachet::tasks
