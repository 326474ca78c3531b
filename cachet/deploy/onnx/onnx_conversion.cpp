#include "cachet/deploy/onnx/onnx_conversion.h"

#include <set>

#include "cachet/deploy/onnx/onnx_rules.h"

namespace cachet::deploy {

namespace jit = torch::jit;

OnnxModel convert_to_onnx(const PortableModel& portable) {
  OnnxModel model;
  OnnxValues values(model);
  for (size_t i = 0; i < portable.inputs.size(); ++i) {
    model.add_input(portable.inputs[i]);
    values.set(portable.graph->inputs()[i], portable.inputs[i].name);
  }
  static const std::set<jit::NodeKind> kNoSteps{jit::prim::Constant, jit::prim::ListConstruct, jit::prim::ListUnpack};
  std::set<std::string> unknown;
  for (jit::Node* node : portable.graph->nodes()) {
    if (kNoSteps.contains(node->kind())) continue;
    const std::string operation = node->kind().toQualString();
    const std::string overload = node->maybeSchema() != nullptr ? node->schema().overload_name() : "";
    const OnnxRule rule = find_onnx_rule(operation, overload);
    if (rule == nullptr) unknown.insert(overload.empty() ? operation : operation + "." + overload);
    if (!unknown.empty()) continue;  // what follows may read it
    OnnxStep step(model, values, *node);
    rule(step);
  }
  std::string names;
  for (const std::string& operation : unknown) names += (names.empty() ? "" : ", ") + operation;
  TORCH_CHECK(unknown.empty(), "the conversion to ONNX has no operators for ", names);
  model.set_output(values.name_of(portable.graph->outputs()[0]), "scores", portable.classes);
  return model;
}

}  // namespace cachet::deploy
