#include "cachet/runtime/openvino/openvino_session.h"

#include <stdexcept>
#include <string>

#include "cachet/runtime/openvino/openvino_core.h"

namespace cachet::runtime {
namespace {

ov::element::Type type_of(Element element) {
  switch (element) {
    case Element::float32:
      return ov::element::f32;
    case Element::int64:
      return ov::element::i64;
    case Element::boolean:
      break;
  }
  return ov::element::boolean;
}

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
      for (size_t i = 0; i < inputs.size(); ++i) {
        const Input& input = inputs[i];
        // Read alone: OpenVINO's tensors know no constant memory.
        request_.set_input_tensor(i,
                                  ov::Tensor(type_of(input.element), ov::Shape(input.shape.begin(), input.shape.end()),
                                             const_cast<void*>(input.data)));
      }
      request_.infer();
      const ov::Tensor output = request_.get_output_tensor();
      const ov::Shape shape = output.get_shape();
      const float* first = output.data<float>();
      return {static_cast<int64_t>(shape.at(0)), static_cast<int64_t>(shape.at(1)), {first, first + output.get_size()}};
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
