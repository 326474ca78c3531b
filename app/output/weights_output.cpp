#include "app/output/weights_output.h"

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"

namespace cachet::app {
namespace {

constexpr const char* kWeightsSource = "source";

}  // namespace

std::map<std::string, std::string> weights_metadata(const std::string& architecture, const std::string& source) {
  return {{"format", "pt"}, {"architecture", architecture}, {kWeightsSource, source}};
}

bool holds_weights_of(const std::filesystem::path& file, const std::string& source) try {
  const auto metadata = io::read_safetensors_metadata(file);
  const auto found = metadata.find(kWeightsSource);
  return found != metadata.end() && found->second == source;
} catch (const io::Error&) {
  return false;
}

}  // namespace cachet::app
