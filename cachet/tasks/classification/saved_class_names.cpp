#include "cachet/tasks/classification/saved_class_names.h"

#include "cachet/config/toml_text.h"
#include "cachet/data/class_matching.h"
#include "cachet/io/error.h"

namespace cachet::tasks {

SavedFiles keep_class_names(const std::vector<std::string>& names) {
  if (names.empty() || !data::can_be_stored(names)) return {};
  return {{}, {"data.class_names=" + config::toml_text(names)}};
}

void take_class_names(const runtime::ExportManifest& manifest, int64_t classes, std::vector<std::string>& names) {
  if (static_cast<int64_t>(manifest.classes.size()) != classes)
    throw io::Error(std::string(runtime::kExportManifest) + ": has the names of " +
                    std::to_string(manifest.classes.size()) + " classes, but the model has " + std::to_string(classes) +
                    "; export the model again");
  if (!names.empty() && names != manifest.classes)
    throw io::Error(std::string(runtime::kExportManifest) + " and " + runtime::kExportRecipe +
                    " have different class names, so one of the files was changed; export the model again");
  if (names.empty() && !data::are_numbers(manifest.classes)) names = manifest.classes;
}

}  // namespace cachet::tasks
