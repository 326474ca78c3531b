#include "cachet/deploy/model_writers.h"

#include <c10/util/Exception.h>

#include <span>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/onnx/onnx_conversion.h"
#include "cachet/deploy/openvino_module.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/runtime/open_session.h"
#include "cachet/runtime/openvino_module.h"

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

WrittenModel write_for_openvino(const PortableModel& portable, const std::filesystem::path& folder,
                                const ModelMetadata& metadata, const OpenVinoOptions& options) {
  const std::string problem = runtime::openvino_problem();
  TORCH_CHECK(problem.empty(), "openvino: ", problem);
  const auto& openvino = runtime::module_functions<OpenVinoConverter>(OpenVinoConverter::kModule);
  WrittenModel written{"OpenVINO " + runtime::openvino_version(), portable.notes};
  const std::unique_ptr<OpenVinoModel> model = converted([&] { return openvino.convert(portable); });
  if (options.calibrate) {
    options.calibrate(model->calibration());
    const int64_t layers = converted([&] { return model->quantize(); });
    written.notes.push_back(std::to_string(layers) + " linear layers and convolutions multiply in 8 bits");
  }
  model->save(folder / runtime::model_file(runtime::EngineKind::openvino), metadata, options.precision);
  return written;
}

}  // namespace cachet::deploy
