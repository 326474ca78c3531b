#include "cachet/deploy/engines.h"

#include <c10/util/Exception.h>

#include "cachet/runtime/engines.h"
#ifdef CACHET_HAS_OPENVINO
#include <openvino/openvino.hpp>

#include "cachet/deploy/openvino/conversion.h"
#endif

namespace cachet::deploy {

#ifdef CACHET_HAS_OPENVINO
std::string write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder) {
  const auto model = convert_to_openvino(portable);
  try {
    ov::save_model(model, (folder / "model.xml").string(), /*compress_to_fp16=*/false);
  } catch (const ov::Exception& error) {
    TORCH_CHECK(false, "openvino: the model cannot be written: ", error.what());
  }
  return "OpenVINO " + runtime::openvino_version();
}
#else
std::string write_for_openvino(const PortableModel&, const std::filesystem::path&) {
  TORCH_CHECK(false, "openvino: this Cachet was built without it; tools/setup --openvino brings it, then build again");
}
#endif

}  // namespace cachet::deploy
