#include "cachet/runtime/openvino/openvino_session.h"

#include <stdexcept>
#include <string>

#include "cachet/runtime/openvino/openvino_core.h"

namespace cachet::runtime {
namespace {

class OpenVinoSession : public Session {
 public:
  OpenVinoSession(const std::filesystem::path& model, const SessionOptions& options) : name_(model.string()) {
    ov::AnyMap properties{
        {ov::hint::performance_mode.name(), ov::hint::PerformanceMode::LATENCY},
        {ov::hint::inference_precision.name(),
         options.precision == Precision::bfloat16 ? ov::element::bf16 : ov::element::f32},
    };
    if (options.threads > 0) properties.emplace(ov::inference_num_threads.name(), options.threads);
    try {
      request_ = openvino_core().compile_model(model.string(), "CPU", properties).create_infer_request();
    } catch (const ov::Exception& error) {
      throw std::runtime_error(name_ + ": OpenVINO cannot open it: " + reason(error));
    }
  }

  Scores run(std::span<const Input> inputs) override {
    try {
      set_inputs(request_, inputs);
      request_.infer();
      return scores_of(request_.get_output_tensor());
    } catch (const ov::Exception& error) {
      throw std::runtime_error(name_ + ": OpenVINO cannot run it: " + reason(error));
    }
  }

 private:
  std::string name_;
  ov::InferRequest request_;
};

}  // namespace

std::unique_ptr<Session> open_openvino(const std::filesystem::path& model, const SessionOptions& options) {
  return std::make_unique<OpenVinoSession>(model, options);
}

}  // namespace cachet::runtime
