#include "cachet/runtime/openvino/openvino_session.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "cachet/runtime/engine_error.h"
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
      compiled_ = openvino_core().compile_model(model.string(), "CPU", properties);
      request_ = compiled_.create_infer_request();
    } catch (const ov::Exception& error) {
      throw EngineError(name_, "OpenVINO cannot open it: " + reason(error));
    }
  }

  Scores run(std::span<const Input> inputs) override {
    try {
      set_inputs(request_, inputs);
      const ov::Tensor output = unwritten_output(inputs);
      request_.set_output_tensor(output);
      request_.infer();
      Scores scores = scores_of(output);
      require_written(scores);
      return scores;
    } catch (const ov::Exception& error) {
      throw EngineError(name_, "OpenVINO cannot run it: " + reason(error));
    }
  }

 private:
  // With one thread OpenVINO reports no error of a call, and the output keeps what it had. So each call has an output
  // of its own, filled with a value that no model computes.
  ov::Tensor unwritten_output(std::span<const Input> inputs) const {
    const ov::PartialShape shape = compiled_.output().get_partial_shape();
    if (inputs.empty() || inputs[0].shape.empty() || shape.rank() != 2 || shape[1].is_dynamic())
      throw EngineError(name_, "its output must be a batch of class scores; export the model again");
    ov::Tensor output(ov::element::f32,
                      {static_cast<size_t>(inputs[0].shape[0]), static_cast<size_t>(shape[1].get_length())});
    std::fill_n(output.data<float>(), output.get_size(), std::bit_cast<float>(kUnwritten));
    return output;
  }

  void require_written(const Scores& scores) const {
    const auto is_unwritten = [](float value) { return std::bit_cast<uint32_t>(value) == kUnwritten; };
    if (std::ranges::any_of(scores.values, is_unwritten))
      throw EngineError(name_,
                        "OpenVINO returned neither an output nor an error; check whether the model accepts these "
                        "inputs, and run the model with two threads to see the error");
  }

  static constexpr uint32_t kUnwritten = 0x7FC1A5E7;  // no number; processors write 0x7FC00000 and 0xFFC00000

  std::string name_;
  ov::CompiledModel compiled_;
  ov::InferRequest request_;
};

}  // namespace

std::unique_ptr<Session> open_openvino(const std::filesystem::path& model, const SessionOptions& options) {
  return std::make_unique<OpenVinoSession>(model, options);
}

}  // namespace cachet::runtime
