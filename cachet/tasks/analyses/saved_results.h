#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "cachet/tasks/analyses/analysis.h"

namespace cachet::tasks {

/// The result of a measurement in the form in which a folder stores it.
struct SavedResult {
  std::string values;    // JSON
  std::string left_out;  // reason why there are no values: "has no cache"; empty if there are values
  bool refused = false;  // whether the reason is not a missing part of the model
  std::array<ImagesRead, 2> images =
      {};  // image files that the measurement read, for the run and for the run that it is compared with
  std::function<std::string(const std::string& name)> file = {};  // returns the bytes of a picture that the values name
};

/// The error for an analysis that is impossible for the given runs or options. what() completes a sentence about a run.
class NotMeasurable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The measurements in a folder. Each file parts/<analysis>-<digest>.json has one complete measurement; pictures/ has
/// the pictures. The digest covers weights, recipes, options, data and the form of the analysis, so that no measurement
/// is mistaken for another one. Each measurement lists the image files that it read, with a digest of their bytes.
class SavedResults {
 public:
  /// Opens a folder of measurements. If the path is empty, stores no files.
  explicit SavedResults(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool keeps() const { return !folder_.empty(); }
  std::optional<SavedResult> find(const std::string& part) const;
  /// Stores the result of a measurement in the folder and returns it. Throws io::Error.
  SavedResult keep(const std::string& part, const AnalysisResult& result, std::array<ImagesRead, 2> images = {}) const;
  SavedResult keep_lack(const std::string& part, const std::string& why) const;

 private:
  std::filesystem::path part_file(const std::string& part) const { return folder_ / "parts" / (part + ".json"); }
  std::filesystem::path folder_;
};

/// Returns the measurement of an analysis from the folder of saved results. If the folder does not have the
/// measurement, makes the measurement with Analysis::measure().
SavedResult measured_or_kept(const Analysis& analysis, AnalysedRun& run, AnalysedRun* beside, const SavedResults& kept,
                             const train::EvaluationProgress& progress);

/// Whether a folder is the folder of an analysis.
bool is_analysis_folder(const std::filesystem::path& folder);
/// Removes the files of an analysis from the folder.
void empty_analysis_folder(const std::filesystem::path& folder);
/// Writes the file. Creates the folder if it does not exist. Throws io::Error.
void write_analysis_file(const std::filesystem::path& file, const std::string& text);

}  // namespace cachet::tasks
