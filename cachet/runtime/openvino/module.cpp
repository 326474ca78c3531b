#include <openvino/core/version.hpp>

#include "cachet/runtime/openvino/openvino_session.h"
#include "cachet/runtime/openvino_module.h"

namespace cachet::runtime {
namespace {

std::string version() {
  const std::string build = ov::get_openvino_version().buildNumber;  // "2026.4.1-22982-…"
  return build.substr(0, build.find('-'));
}

}  // namespace
}  // namespace cachet::runtime

extern "C" const cachet::runtime::OpenVinoEngine* cachet_runtime_openvino() {
  using namespace cachet::runtime;
  static constexpr OpenVinoEngine kEngine{CACHET_VERSION, &version, &open_openvino};
  return &kEngine;
}
