#pragma once

#include <string>
#include <vector>

#include "cachet/data/file_faults.h"

namespace cachet::tasks {

/// The files of single samples, such as images, which an evaluation opens one by one.
struct EvaluationFiles {
  data::FileFaults faults{};
  /// The setting of a recipe that lets an evaluation leave out files that it cannot read: "data.on_bad_image =
  /// \"skip\""; empty if there is no such setting.
  std::string setting_to_skip{};
  bool skips = false;  // whether the recipe has this setting
};

/// Returns lines for the user about files that are left out of the evaluation. Throws io::Error if a file cannot be
/// read and the recipe does not let evaluations leave out files.
std::vector<std::string> checked(const EvaluationFiles& files);

}  // namespace cachet::tasks
