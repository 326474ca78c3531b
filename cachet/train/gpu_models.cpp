#include "cachet/train/gpu_models.h"

#include <fstream>
#include <map>
#include <system_error>

namespace cachet::train {
namespace {

std::string model_of(const std::filesystem::path& information) {
  constexpr std::string_view key = "Model:";
  std::ifstream file(information);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace

std::string gpu_models(const std::filesystem::path& driver) {
  std::map<std::string, int> counts;
  std::error_code error;
  for (const auto& gpu : std::filesystem::directory_iterator(driver / "gpus", error))
    if (std::string model = model_of(gpu.path() / "information"); !model.empty()) ++counts[std::move(model)];
  std::string text;
  for (const auto& [model, count] : counts)
    text += (text.empty() ? "" : ", ") + (count > 1 ? std::to_string(count) + " x " : "") + model;
  return text;
}

}  // namespace cachet::train
