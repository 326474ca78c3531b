#include "cachet/deploy/engines.h"

#include <c10/util/Exception.h>

#include <span>

#include "cachet/deploy/onnx/onnx_conversion.h"
#include "cachet/io/atomic_file.h"
#include "cachet/runtime/engines.h"
#ifdef CACHET_HAS_OPENVINO
#include <openvino/openvino.hpp>

#include "cachet/deploy/openvino/conversion.h"
#include "cachet/deploy/openvino/quantization.h"
#include "cachet/runtime/openvino/openvino_core.h"
#endif

namespace cachet::deploy {

WrittenModel write_for_onnx(const PortableModel& portable, const std::filesystem::path& folder) {
  const std::string bytes = convert_to_onnx(portable).serialized("Cachet", "");
  io::write_new_file(folder / runtime::model_file(runtime::EngineKind::onnx), std::as_bytes(std::span(bytes)));
  return {"ONNX, operator set " + std::to_string(OnnxModel::kOperatorSet), portable.notes};
}

#ifdef CACHET_HAS_OPENVINO
WrittenModel write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder,
                                const Calibrate& calibrate) {
  WrittenModel written{"OpenVINO " + runtime::openvino_version(), portable.notes};
  std::shared_ptr<ov::Model> model = convert_to_openvino(portable);
  if (calibrate) {
    Quantization quantization(model);
    calibrate(quantization.calibration());
    model = quantization.quantized();
    written.notes.push_back(std::to_string(quantization.layers()) +
                            " linear layers and convolutions multiply in 8 bits");
  }
  try {
    ov::save_model(model, (folder / runtime::model_file(runtime::EngineKind::openvino)).string(),
                   /*compress_to_fp16=*/false);
  } catch (const ov::Exception& error) {
    TORCH_CHECK(false, "openvino: the model cannot be written: ", runtime::reason(error));
  }
  return written;
}
#else
WrittenModel write_for_openvino(const PortableModel&, const std::filesystem::path&, const Calibrate&) {
  TORCH_CHECK(false, "openvino: this Cachet was built without it; tools/setup --openvino brings it, then build again");
}
#endif

}  // namespace cachet::deploy
