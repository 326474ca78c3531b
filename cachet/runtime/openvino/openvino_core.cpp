#include "cachet/runtime/openvino/openvino_core.h"

#include <dlfcn.h>

#include <filesystem>
#include <openvino/core/version.hpp>
#include <string_view>

namespace cachet::runtime {
namespace {

// OpenVINO's threads look at the machine through a library that they load with RTLD_DEEPBIND: it would free with glibc
// what a program's own allocator (such as jemalloc) gave. Loaded before, it takes the program's.
void load_topology_library() {
  Dl_info openvino{};
  if (dladdr(reinterpret_cast<const void*>(&ov::get_openvino_version), &openvino) == 0) return;
  const std::filesystem::path folder = std::filesystem::path(openvino.dli_fname).parent_path();
  for (const char* name : {"libtbbbind_2_5.so.3", "libtbbbind_2_0.so.3", "libtbbbind.so.3"})
    if (dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return;  // it is never closed
}

}  // namespace

ov::Core& openvino_core() {
  static ov::Core instance = [] {
    load_topology_library();
    return ov::Core();
  }();
  return instance;
}

ov::element::Type element_type(Element element) {
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

std::string reason(const ov::Exception& error) {
  // The last line has the reason.
  std::string text = error.what();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text.erase(0, text.rfind('\n') + 1);
  constexpr std::string_view kItem = "-- ";  // of a list
  if (text.starts_with(kItem)) text.erase(0, kItem.size());
  // "Check 'a == b' failed at src/plugins/…:12": nothing but a position in OpenVINO's sources.
  const bool is_place = text.starts_with("Check '") && text.find(" failed at ") != std::string::npos;
  return text.empty() || is_place ? "it gives no reason" : text;
}

void set_inputs(ov::InferRequest& request, std::span<const Input> inputs) {
  const size_t taken = request.get_compiled_model().inputs().size();
  if (inputs.size() != taken)
    throw std::runtime_error("the model takes " + std::to_string(taken) +
                             (taken == 1 ? " input, not " : " inputs, not ") + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& input = inputs[i];
    // Read alone: OpenVINO's tensors know no constant memory.
    request.set_input_tensor(i,
                             ov::Tensor(element_type(input.element), ov::Shape(input.shape.begin(), input.shape.end()),
                                        const_cast<void*>(input.data)));
  }
}

Scores scores_of(const ov::Tensor& output) {
  const ov::Shape shape = output.get_shape();
  const float* first = output.data<float>();
  return {static_cast<int64_t>(shape.at(0)), static_cast<int64_t>(shape.at(1)), {first, first + output.get_size()}};
}

}  // namespace cachet::runtime
