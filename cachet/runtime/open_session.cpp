#include "cachet/runtime/open_session.h"

#include "cachet/io/error.h"
#ifdef CACHET_HAS_OPENVINO
#include <openvino/core/version.hpp>

#include "cachet/runtime/checked_session.h"
#include "cachet/runtime/openvino/openvino_session.h"
#endif

namespace cachet::runtime {

std::string openvino_version() {
#ifdef CACHET_HAS_OPENVINO
  const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-22982-…"
  return build.substr(0, build.find('-'));
#else
  return "";
#endif
}

std::unique_ptr<Session> open_session([[maybe_unused]] const std::filesystem::path& folder,
                                      const ExportManifest& manifest, [[maybe_unused]] const SessionOptions& options) {
  if (manifest.engine == EngineKind::torch)
    throw io::Error(
        folder.string() +
        ": this export needs LibTorch; for a program without LibTorch, export the model with --engine openvino");
#ifdef CACHET_HAS_OPENVINO
  return checked(open_openvino(folder / model_file(manifest.engine), options), manifest);
#else
  throw io::Error(folder.string() +
                  ": this export needs OpenVINO, but this Cachet was built without it; run tools/setup --openvino, "
                  "then build again");
#endif
}

}  // namespace cachet::runtime
