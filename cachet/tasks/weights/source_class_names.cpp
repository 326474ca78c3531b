#include "cachet/tasks/weights/source_class_names.h"

#include "cachet/tasks/classification/saved_class_names.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/timm_config.h"

namespace cachet::tasks {

std::vector<std::string> source_class_names(const std::filesystem::path& path, const WeightImportReport& report,
                                            int64_t classes) {
  if (report.starts_classes_anew() || classes == 0) return {};
  if (is_model_file(path)) return open_saved_run(path.parent_path()).plan.task->class_name_settings();
  return keep_class_names(timm_class_names(path, classes)).settings;
}

}  // namespace cachet::tasks
