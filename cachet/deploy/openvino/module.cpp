#include <openvino/openvino.hpp>
#include <optional>
#include <utility>

#include "cachet/deploy/openvino/conversion.h"
#include "cachet/deploy/openvino/known_faults.h"
#include "cachet/deploy/openvino/openvino_problem.h"
#include "cachet/deploy/openvino/quantization.h"
#include "cachet/deploy/openvino_module.h"

namespace cachet::deploy {
namespace {

class ConvertedModel : public OpenVinoModel {
 public:
  explicit ConvertedModel(std::shared_ptr<ov::Model> model) : model_(std::move(model)) {}

  std::unique_ptr<runtime::Session> calibration() override { return quantization_.emplace(model_).calibration(); }

  int64_t quantize() override {
    TORCH_CHECK(quantization_, "openvino: a model must be calibrated before it is quantised");
    model_ = quantization_->quantized();
    return quantization_->layers();
  }

  void save(const std::filesystem::path& file, const ModelMetadata& metadata, runtime::Precision precision) override {
    for (const auto& [name, value] : metadata) model_->set_rt_info(value, "cachet", name);
    model_->set_rt_info(std::string(kOldestOpenVino), "cachet", "minimum_openvino_version");
    const bool casts = precision == runtime::Precision::bfloat16;
    model_->set_rt_info(std::string(casts ? "bf16" : "f32"), "runtime_options", ov::hint::inference_precision.name());
    told_by_openvino([&] { ov::save_model(model_, file.string(), /*compress_to_fp16=*/false); });
  }

 private:
  std::shared_ptr<ov::Model> model_;
  std::optional<Quantization> quantization_;
};

std::unique_ptr<OpenVinoModel> convert(const PortableModel& portable) {
  return std::make_unique<ConvertedModel>(convert_to_openvino(portable));
}

}  // namespace
}  // namespace cachet::deploy

extern "C" const cachet::deploy::OpenVinoConverter* cachet_deploy_openvino() {
  using namespace cachet::deploy;
  static constexpr OpenVinoConverter kConverter{CACHET_VERSION, &convert};
  return &kConverter;
}
