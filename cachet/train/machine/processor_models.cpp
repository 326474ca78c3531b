#include "cachet/train/machine/processor_models.h"

#include <fstream>
#include <map>
#include <string_view>
#include <system_error>

namespace cachet::train {
namespace {

/// What stands after a key, its colon and blanks, in the first line that begins with it; empty where there is none.
std::string value_of(const std::filesystem::path& file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace

std::string processor_model() {
  const std::string model = value_of("/proc/cpuinfo", "model name");
  return model.empty() ? "unknown" : model;
}

std::string gpu_models(const std::filesystem::path& driver) {
  std::map<std::string, int> counts;
  std::error_code error;
  for (const auto& gpu : std::filesystem::directory_iterator(driver / "gpus", error))
    if (std::string model = value_of(gpu.path() / "information", "Model:"); !model.empty()) ++counts[std::move(model)];
  std::string text;
  for (const auto& [model, count] : counts)
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " x " : "") + model;
  return text;
}

}  // namespace cachet::train
