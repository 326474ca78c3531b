#include "cachet/deploy/onnx/onnx_conversion.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <optional>
#include <set>

#include "cachet/deploy/onnx/onnx_step.h"

namespace cachet::deploy {

namespace jit = torch::jit;

namespace {

bool is_changed(const jit::Value& value) {
  return std::ranges::any_of(value.uses(), [](const jit::Use& use) {
    return use.user->maybeSchema() != nullptr && use.user->schema().is_mutable();
  });
}

/// A value that does not depend on the model's inputs, and that nothing changes in place; lists of such values too.
std::optional<c10::IValue> known_value(jit::Value* value) {
  if (is_changed(*value)) return std::nullopt;
  if (const auto constant = jit::toIValue(value)) return *constant;
  jit::Node& maker = *value->node();
  if (maker.kind() != jit::prim::ListConstruct) return std::nullopt;
  c10::impl::GenericList parts(value->type()->expectRef<c10::ListType>().getElementType());
  for (jit::Value* part : maker.inputs()) {
    const auto known = known_value(part);
    if (!known) return std::nullopt;
    parts.push_back(*known);
  }
  return c10::IValue(std::move(parts));
}

bool may_be_computed(const jit::Node& node) {
  const bool pure = node.kind().is_aten() && node.maybeSchema() != nullptr && !node.schema().is_mutable() &&
                    !node.isNondeterministic();
  return pure && std::ranges::all_of(node.outputs(), [](const jit::Value* output) {
           return output->type()->kind() == c10::TypeKind::TensorType ||
                  output->type()->kind() == c10::TypeKind::IntType;
         });
}

/// The graph in which whatever does not depend on the inputs is a constant: the blocks that sparse attention draws,
/// say.
std::shared_ptr<jit::Graph> with_constants_computed(jit::Graph& given) {
  const at::NoGradGuard no_grad;
  std::shared_ptr<jit::Graph> graph = given.copy();
  for (auto node = graph->nodes().begin(); node != graph->nodes().end(); ++node) {
    if (!may_be_computed(**node)) continue;
    jit::Stack inputs;
    for (jit::Value* input : node->inputs())
      if (const auto known = known_value(input)) inputs.push_back(*known);
    if (inputs.size() != node->inputs().size()) continue;
    jit::Stack results = std::move(inputs);
    node->getOperation()(results);
    {
      const jit::WithInsertPoint before(*node);
      for (size_t i = 0; i < results.size(); ++i)
        node->outputs()[i]->replaceAllUsesWith(graph->insertConstant(results[i]));
    }
    node.destroyCurrent();
  }
  return graph;
}

}  // namespace

OnnxModel convert_to_onnx(const PortableModel& portable) {
  const std::shared_ptr<jit::Graph> graph = with_constants_computed(*portable.graph);
  OnnxModel model;
  OnnxValues values(model);
  for (size_t i = 0; i < portable.inputs.size(); ++i) {
    model.add_input(portable.inputs[i]);
    values.set(graph->inputs()[i], portable.inputs[i].name);
  }
  static const std::set<jit::NodeKind> kNoSteps{jit::prim::Constant, jit::prim::ListConstruct, jit::prim::ListUnpack};
  std::set<std::string> unknown;
  for (jit::Node* node : graph->nodes()) {
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
  TORCH_CHECK(unknown.empty(), "onnx: the model has operators that are not written: ", names);
  model.set_output(values.name_of(graph->outputs()[0]), "scores", portable.classes);
  return model;
}

}  // namespace cachet::deploy
