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

/// One measurement of an analysis: of one run, or of two runs together. Numbers of runs.
struct AnalysisJob {
  size_t run = 0;
  std::optional<size_t> beside{};
};

/// What a measurement gave: JSON, from which alone the page is drawn, and pictures that it names.
struct AnalysisResult {
  std::string values;
  std::vector<NamedFile> files{};
};

/// The same with the names of its runs, and how the bytes of a file are had.
struct NamedResult {
  std::string run, beside{};
  std::string values;
  std::function<std::string(const std::string& name)> file;
};

/// One thing that is asked of runs.
class Analysis {
 public:
  virtual ~Analysis() = default;
  virtual std::string_view word() const = 0;   // as --what has it: "caches"
  virtual std::string_view title() const = 0;  // of its section
  /// Whether it is made of the evaluation samples, or of replayed training steps.
  virtual AnalysisEffort effort() const = 0;
  /// What a model lacks that it has nothing to look at: "has no cache". Nothing where there is something.
  virtual std::optional<std::string> lacks(const torch::nn::Module& model) const = 0;
  /// About how many samples pass through the model in measure(): the backward pass of a replayed step counts as two.
  /// The time that is left is estimated by it.
  virtual double passes(const AnalysedRun& run) const;
  /// Each run by itself, unless an analysis overrides this.
  virtual std::vector<AnalysisJob> jobs(size_t runs) const;
  virtual AnalysisResult measure(AnalysedRun& run, AnalysedRun* beside,
                                 const train::EvaluationProgress& progress) const = 0;
  /// What the page shows of all that was measured, in the order of the jobs.
  virtual report::Section section(const std::vector<NamedResult>& results) const = 0;
};

/// All of them, in the order of the page.
const std::vector<std::unique_ptr<Analysis>>& analyses();

/// Those of a list of words, "caches,norms", in the order of the page; all for an empty one. Throws
/// std::invalid_argument that names the nearest word.
std::vector<const Analysis*> analyses_named(const std::string& list);

// Each in its file.
std::unique_ptr<Analysis> cache_analysis();
std::unique_ptr<Analysis> gate_analysis();
std::unique_ptr<Analysis> map_analysis();
std::unique_ptr<Analysis> intervention_analysis();
std::unique_ptr<Analysis> norm_analysis();
std::unique_ptr<Analysis> similarity_analysis();
std::unique_ptr<Analysis> kernel_analysis();

}  // namespace cachet::tasks
