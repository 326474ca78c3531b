#include "cachet/train/runs/resume_command.h"

#include "cachet/report/program_name.h"
#include "cachet/report/shell_word.h"

namespace cachet::train {

std::string resume_command(const std::filesystem::path& run, int64_t processes) {
  std::vector<std::string> words{report::program_name(), "train", run.string(), "--resume"};
  if (processes > 1) words.insert(words.end(), {"--processes", std::to_string(processes)});
  return report::shell_line(words);
}

}  // namespace cachet::train
