#include "cachet/runtime/open_session.h"

#include "cachet/io/error.h"
#include "cachet/runtime/checked_session.h"
#include "cachet/runtime/openvino_module.h"

namespace cachet::runtime {
namespace {

const OpenVinoEngine& openvino_engine() {
  static const OpenVinoEngine& loaded = module_functions<OpenVinoEngine>(OpenVinoEngine::kModule);
  return loaded;
}

}  // namespace

bool openvino_is_built_in() { return !module_file(OpenVinoEngine::kModule).empty(); }

std::string openvino_version() {
  try {
    return openvino_engine().version();
  } catch (const ModuleError&) {
    return "";
  }
}

std::string openvino_problem() {
  try {
    openvino_engine();
    return "";
  } catch (const ModuleError& error) {
    return error.what();
  }
}

std::unique_ptr<Session> open_session(const std::filesystem::path& folder, const ExportManifest& manifest,
                                      const SessionOptions& options) {
  if (manifest.engine == EngineKind::torch)
    throw io::Error(
        folder.string() +
        ": this export needs LibTorch; for a program without LibTorch, export the model with --engine openvino");
  if (const std::string problem = openvino_problem(); !problem.empty())
    throw io::Error(folder.string() + ": this export needs OpenVINO, but " + problem);
  return checked(openvino_engine().open(folder / model_file(manifest.engine), options), manifest);
}

}  // namespace cachet::runtime
