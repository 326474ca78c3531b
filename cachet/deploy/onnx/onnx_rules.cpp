#include "cachet/deploy/onnx/onnx_rules.h"

namespace cachet::deploy {

OnnxRule find_onnx_rule(const std::string& operation, const std::string& overload) {
  const std::string whole = operation + "." + (overload.empty() ? "default" : overload);
  for (const OnnxRules* rules : {&onnx_arithmetic(), &onnx_products(), &onnx_shapes(), &onnx_places()})
    for (const std::string& name : {operation, whole})
      if (const auto found = rules->find(name); found != rules->end()) return found->second;
  return nullptr;
}

}  // namespace cachet::deploy
