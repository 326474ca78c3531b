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
  /// Compare on all evaluation data, accuracy too, as always with int8; else on samples that data.subset_seed draws.
  bool check_all = false;
};

/// What takes long while a model is exported: samples that show which numbers it meets, for 8 bits, and the comparison.
enum class ExportPart { calibration, comparison };
const char* to_string(ExportPart part);  // "calibrate", "compare"

/// Called with the progress of a part.
using ExportProgress = std::function<void(ExportPart part, int64_t done, int64_t total)>;

/// What an export of some precision may differ from its model by.
struct ExportTolerance {
  deploy::Tolerance answers{};  // to evaluation samples
  double metric = 0;            // of the metric that decides: absolute for accuracies, relative for others

  /// For inputs that may differ from evaluation samples: any number of them may have two nearly equal classes.
  deploy::Tolerance sent() const { return {answers.log_probability, 1}; }
};
ExportTolerance export_tolerance(runtime::Precision precision);

/// How far what an export computes lies from what its model does.
struct ExportCheck {
  std::string samples;  // "256 test images", "256 random inputs, none of them real"
  ExportTolerance tolerance;
  deploy::Equality equality;
  std::string sent_inputs;                     // "19 single inputs and small batches and 6 image files", of classifiers
  deploy::Equality sent;                       // no samples of other tasks
  deploy::DecisionWords words;                 // of `equality`
  std::string metric = "top1";                 // the one that decides; for a classifier the fraction of right samples
  double metric_before = 0, metric_after = 0;  // where all evaluation data were compared
  bool has_metric = false;

  /// The bounds that the answers do not keep, each as a clause: "the accuracy may change by 0.2 points".
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
  int64_t bytes = 0;        // of all files of the folder but export.json and the report
  int64_t model_bytes = 0;  // of the weights and state that the model was loaded with
};

/// What an export is made of.
struct ExportSource {
  std::filesystem::path path;         // what open_saved_run() takes
  std::vector<std::string> settings;  // over its recipe

  /// Those that lie over the export's recipe too: without those of [model], which its model has already.
  std::vector<std::string> settings_of_export() const;
};

/// Throws std::invalid_argument, a line for the user, for an engine that does not have the precision, and for one that
/// is not built in.
void check_export_options(const ExportOptions& options);

/// Rewrites a model (deploy/rewrite.h) and writes it for an engine into a folder, which appears, or replaces an
/// existing one, atomically. Before that, the results of the folder are checked against those of the model in float32:
/// on evaluation data if they can be read, otherwise on noise. Then both are timed. Throws as check_export_options()
/// does; std::runtime_error with the difference if it exceeds the tolerance, or with another engine if this one cannot
/// take or run such a model; ops::NotFinite if the model returns NaN or infinity; io::Error if a file cannot be read or
/// written.
ExportReport export_model(const ExportSource& source, const ExportOptions& options, const std::filesystem::path& folder,
                          const ExportProgress& progress);

/// The source that the export names: "run 1f0c…", "model 9f86…".
std::string export_source(const SavedRun& saved);

/// Lines for people: what went, what stayed and why, how far the results lie apart.
std::vector<std::string> report_lines(const ExportReport& report);

}  // namespace cachet::tasks
