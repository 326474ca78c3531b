#pragma once

#include "cachet/tasks/exports/model_export.h"

namespace cachet::tasks {

/// Runs a float32 model and its export on the same samples and compares them. `folder` has the export and its manifest.
ExportCheck compare_export(const ExportSource& source, const ExportOptions& options,
                           const std::filesystem::path& folder, const ExportProgress& progress);

/// Returns "on 8 test images: largest difference of a log-probability 3e-07; …; accuracy 75.00 % instead of 75.00 %".
std::string to_text(const ExportCheck& check);

}  // namespace cachet::tasks
