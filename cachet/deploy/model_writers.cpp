#include "cachet/deploy/model_writers.h"

#include <c10/util/Exception.h>

#include <span>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/onnx/onnx_conversion.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/runtime/open_session.h"
#ifdef CACHET_HAS_OPENVINO
#include <openvino/openvino.hpp>

#include "cachet/deploy/openvino/conversion.h"
#include "cachet/deploy/openvino/known_faults.h"
#include "cachet/deploy/openvino/openvino_problem.h"
#include "cachet/deploy/openvino/quantization.h"
#endif

namespace cachet::deploy {

WrittenModel write_for_onnx(const PortableModel& portable, const std::filesystem::path& folder,
                            const ModelMetadata& metadata) {
  const auto version = metadata.find(kVersionOfMetadata);
  const std::string bytes = converted([&] {
    return convert_to_onnx(portable).serialized("Cachet", version == metadata.end() ? "" : version->second, metadata);
  });
  io::write_new_file(folder / runtime::model_file(runtime::EngineKind::onnx), std::as_bytes(std::span(bytes)));
  return {"ONNX, operator set " + std::to_string(OnnxModel::kOperatorSet), portable.notes};
}

#ifdef CACHET_HAS_OPENVINO
WrittenModel write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder,
                                const ModelMetadata& metadata, const OpenVinoOptions& options) {
  WrittenModel written{"OpenVINO " + runtime::openvino_version(), portable.notes};
  std::shared_ptr<ov::Model> model = converted([&] { return convert_to_openvino(portable); });
  if (options.calibrate) {
    Quantization quantization(model);
    options.calibrate(quantization.calibration());
    model = converted([&] { return quantization.quantized(); });
    written.notes.push_back(std::to_string(quantization.layers()) +
                            " linear layers and convolutions multiply in 8 bits");
  }
  for (const auto& [name, value] : metadata) model->set_rt_info(value, "cachet", name);
  model->set_rt_info(std::string(kOldestOpenVino), "cachet", "minimum_openvino_version");
  const bool casts = options.precision == runtime::Precision::bfloat16;
  model->set_rt_info(std::string(casts ? "bf16" : "f32"), "runtime_options", ov::hint::inference_precision.name());
  told_by_openvino([&] {
    ov::save_model(model, (folder / runtime::model_file(runtime::EngineKind::openvino)).string(),
                   /*compress_to_fp16=*/false);
  });
  return written;
}
#else
WrittenModel write_for_openvino(const PortableModel&, const std::filesystem::path&, const ModelMetadata&,
                                const OpenVinoOptions&) {
  TORCH_CHECK(false, "openvino: this Cachet was built without OpenVINO; run tools/setup --openvino, then build again");
}
#endif

}  // namespace cachet::deploy
