#include "cachet/runtime/openvino/openvino_session.h"

#include <dlfcn.h>

#include <openvino/core/version.hpp>
#include <openvino/runtime/core.hpp>
#include <stdexcept>
#include <string>

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

// Of OpenVINO's messages the last line says what is wrong; those before it say where in OpenVINO.
std::string reason(const ov::Exception& error) {
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  return line == std::string::npos ? text : text.substr(line + 1);
}

// OpenVINO's threads look at the machine through a library that they load with RTLD_DEEPBIND: it would free with glibc
// what a program's own allocator (jemalloc, say) gave. Loaded before, it takes the program's.
void load_topology_library() {
  Dl_info openvino{};
  if (dladdr(reinterpret_cast<const void*>(&ov::get_openvino_version), &openvino) == 0) return;
  const std::filesystem::path folder = std::filesystem::path(openvino.dli_fname).parent_path();
  for (const char* name : {"libtbbbind_2_5.so.3", "libtbbbind_2_0.so.3", "libtbbbind.so.3"})
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;  // kept: it is never closed
}

// OpenVINO reads the plug-ins' list once a process.
ov::Core& core() {
  static ov::Core instance = [] {
    load_topology_library();
    return ov::Core();
  }();
  return instance;
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
      request_ = core().compile_model(model.string(), "CPU", properties).create_infer_request();
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
