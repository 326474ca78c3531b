#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cachet/report/content.h"
#include "cachet/tasks/abilities.h"
#include "cachet/tasks/analyses/analysed_run.h"

namespace cachet::tasks {

/// A job: one measurement of an analysis, on one run or on two runs together. The members of an AnalysisJob are indices
/// of runs.
struct AnalysisJob {
  size_t run = 0;
  std::optional<size_t> beside{};
};

/// The result of a measurement: JSON with all data of the measurement that the analysis page shows, and the pictures
/// that the JSON names.
struct AnalysisResult {
  std::string values;
  std::vector<NamedFile> files{};
};

/// The result of a measurement, the names of its runs, and a function that returns the bytes of a file by its name.
struct NamedResult {
  std::string run, beside{};
  std::string values;
  std::function<std::string(const std::string& name)> file;
};

/// One kind of measurement of runs.
class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual std::string_view word() const = 0;   // word of the analysis in --what: "caches"
  virtual std::string_view title() const = 0;  // title of the analysis's section
  /// Whether the analysis uses the evaluation samples, or replayed training steps.
  virtual AnalysisEffort effort() const = 0;
  /// Describes what the model lacks for this analysis: "has no cache". If the model has everything that the analysis
  /// needs, returns std::nullopt.
  virtual std::optional<std::string> lacks(const torch::nn::Module& model) const = 0;
  /// Estimates how many samples pass through the model in measure(); the backward pass of a replayed step counts as two
  /// passes. The result of passes() is used to estimate the remaining time of the analysis.
  virtual double passes(const AnalysedRun& run) const;
  /// Returns the jobs of the analysis: by default, one job for each run.
  virtual std::vector<AnalysisJob> jobs(size_t runs) const;
  virtual AnalysisResult measure(AnalysedRun& run, AnalysedRun* beside,
                                 const train::EvaluationProgress& progress) const = 0;
  /// Returns the section of the page that shows the results of all jobs, in the order in which jobs() returns them.
  virtual report::Section section(const std::vector<NamedResult>& results) const = 0;
};

/// Returns all analyses, in the order of the page.
const std::vector<std::unique_ptr<Analysis>>& analyses();

/// Returns the analyses that a list such as "caches,norms" names, in the order in which the page shows them. An empty
/// list means all analyses. For an unknown word, throws std::invalid_argument, which names the nearest known word.
std::vector<const Analysis*> analyses_named(const std::string& list);

// Each of the following functions is defined in its own source file.
std::unique_ptr<Analysis> cache_analysis();
std::unique_ptr<Analysis> gate_analysis();
std::unique_ptr<Analysis> map_analysis();
std::unique_ptr<Analysis> intervention_analysis();
std::unique_ptr<Analysis> norm_analysis();
std::unique_ptr<Analysis> similarity_analysis();
std::unique_ptr<Analysis> kernel_analysis();

}  // namespace cachet::tasks
