// Boxes to deltas and back: {"boxes": a tensor's name, "other": of targets or deltas, "decode": …, "deviations": [4]}.
#include "cachet/models/detection/boxes/box_coder.h"
#include "tests/peers/tensor_cases.h"

namespace cachet::models {
namespace {

at::Tensor coded(const nlohmann::json& options, const io::TensorMap& tensors) {
  BoxCoderOptions coder_options;
  coder_options.deviations = options.at("deviations").get<std::array<double, 4>>();
  const BoxCoder coder(coder_options);
  const at::Tensor& boxes = tensors.at(options.at("boxes").get<std::string>());
  const at::Tensor& other = tensors.at(options.at("other").get<std::string>());
  return options.at("decode").get<bool>() ? coder.decode(boxes, other, std::nullopt) : coder.encode(boxes, other);
}

}  // namespace
}  // namespace cachet::models

int main(int argc, char** argv) { return cachet::peers::run_cases(argc, argv, cachet::models::coded); }
