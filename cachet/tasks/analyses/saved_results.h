#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "cachet/tasks/analyses/analysis.h"

namespace cachet::tasks {

/// A measurement as a folder keeps it.
struct SavedResult {
  std::string values;    // JSON
  std::string left_out;  // why there are none: "has no cache"; else empty
  bool refused = false;  // whether that is for another reason than what a model lacks
  std::array<ImagesRead, 2> images =
      {};  // image files that were read for it: of the run, and of the one that it is compared with
  std::function<std::string(const std::string& name)> file = {};  // the bytes of a picture that the values name
};

/// What an analysis cannot do of these runs or with these options; what() follows the name of a run.
class NotMeasurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The measurements in a folder: parts/<analysis>-<digest>.json, each written when it is whole, and pictures/. The
/// digest is of weights, recipes, options, data and the form of the analysis: those of anything else are never taken
/// for it. Image files that were read stand in the part itself with a digest of their bytes.
class SavedResults {
 public:
  /// An empty path keeps nothing on the disk.
  explicit SavedResults(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool keeps() const { return !folder_.empty(); }
  std::optional<SavedResult> find(const std::string& part) const;
  /// Throws io::Error.
  SavedResult keep(const std::string& part, const AnalysisResult& result, std::array<ImagesRead, 2> images = {}) const;
  SavedResult keep_lack(const std::string& part, const std::string& why) const;

 private:
  std::filesystem::path part_file(const std::string& part) const { return folder_ / "parts" / (part + ".json"); }
  std::filesystem::path folder_;
};

/// What the folder holds of it, or else what is measured now.
SavedResult measured_or_kept(const Analysis& analysis, AnalysedRun& run, AnalysedRun* beside, const SavedResults& kept,
                             const train::EvaluationProgress& progress);

/// Whether a folder is one of this kind.
bool is_analysis_folder(const std::filesystem::path& folder);
/// Removes what it holds of this kind.
void empty_analysis_folder(const std::filesystem::path& folder);
/// Makes the folder where it is not there. Throws io::Error.
void write_analysis_file(const std::filesystem::path& file, const std::string& text);

}  // namespace cachet::tasks
