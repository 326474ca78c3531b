#include "cachet/train/resume_command.h"

#include "cachet/report/program_name.h"
#include "cachet/report/shell_word.h"

namespace cachet::train {

std::string resume_command(const std::filesystem::path& run) {
  return report::shell_line({report::program_name(), "train", run.string(), "--resume"});
}

}  // namespace cachet::train
