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
    throw io::Error(folder.string() + ": runs on LibTorch; export it with --engine openvino for a program without it");
#ifdef CACHET_HAS_OPENVINO
  return checked(open_openvino(folder / model_file(manifest.engine), options), manifest);
#else
  throw io::Error(folder.string() +
                  ": runs on OpenVINO, and this Cachet was built without it; tools/setup --openvino "
                  "brings it, then build again");
#endif
}

}  // namespace cachet::runtime
