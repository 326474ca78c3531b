#pragma once

#include <string>
#include <vector>

#include "cachet/data/file_faults.h"

namespace cachet::tasks {

/// The files that an evaluation opens one by one while it runs.
struct EvaluationFiles {
  data::FileFaults faults{};
  /// "data.on_bad_image = \"skip\"": the setting of a recipe that lets an evaluation leave out files that it cannot
  /// read; empty if no setting does.
  std::string setting_to_skip{};
  bool skips = false;  // whether the recipe has this setting
};

/// Lines for the user on files that are left out of the evaluation. Throws io::Error if a file cannot be read and none
/// may be left out.
std::vector<std::string> checked(const EvaluationFiles& files);

}  // namespace cachet::tasks
