#include "cachet/tasks/evaluation_files.h"

#include <cstdint>

#include "cachet/io/error.h"

namespace cachet::tasks {

std::vector<std::string> checked(const EvaluationFiles& files) {
  const int64_t faulty = files.faults.faulty;
  if (faulty == 0) return {};
  const bool is_one = faulty == 1;
  const std::string which = std::to_string(faulty) + " of the " + std::to_string(files.faults.files) +
                            (files.faults.files == 1 ? " file" : " files") + " of the evaluation cannot be read",
                    named = (is_one ? ": " : "; the first: ") + files.faults.first;
  if (files.skips)
    return {which + ". The evaluation continues without " + (is_one ? "it" : "them") + " (" + files.setting_to_skip +
            ")" + named};
  throw io::Error(
      which + named + "; put " + (is_one ? "it" : "them") + " back" +
      (files.setting_to_skip.empty() ? "" : ", or set " + files.setting_to_skip + " to continue without such files"));
}

}  // namespace cachet::tasks
