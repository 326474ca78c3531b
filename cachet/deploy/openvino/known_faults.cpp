#include "cachet/deploy/openvino/known_faults.h"

#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <limits>
#include <openvino/op/constant.hpp>
#include <openvino/op/gather_elements.hpp>
#include <openvino/op/scaled_dot_product_attention.hpp>
#include <openvino/op/select.hpp>
#include <openvino/op/slice.hpp>
#include <openvino/op/variadic_split.hpp>
#include <openvino/pass/constant_folding.hpp>
#include <openvino/pass/manager.hpp>
#include <vector>

namespace cachet::deploy {
namespace {

namespace jit = torch::jit;

// The one number of a constant.
std::optional<int64_t> number(const ov::Output<ov::Node>& value) {
  const auto held = ov::as_type_ptr<ov::op::v0::Constant>(value.get_node_shared_ptr());
  if (!held || ov::shape_size(held->get_shape()) != 1) return std::nullopt;
  return held->cast_vector<int64_t>().front();
}

}  // namespace

void replace_computed_narrows(jit::Graph& graph) {
  for (jit::Node* node : graph.nodes()) {
    if (node->kind() != jit::aten::narrow || jit::toIValue(node->inputs()[3])) continue;
    const jit::WithInsertPoint here(node);
    jit::Value *start = node->inputs()[2], *length = node->inputs()[3];
    jit::Value* end = graph.insert(jit::aten::add, {start, length});
    jit::Value* part =
        graph.insert(jit::aten::slice, {node->inputs()[0], node->inputs()[1], start, end, graph.insertConstant(1)});
    part->setType(node->output()->type());
    node->output()->replaceAllUsesWith(part);
  }
  jit::EliminateDeadCode(graph.block());
}

void replace_slices_before_gathers(const std::shared_ptr<ov::Model>& model) {
  ov::pass::Manager folding;
  folding.register_pass<ov::pass::ConstantFolding>();  // the ends of slices are sums of constants
  folding.run_passes(model);
  for (const auto& node : model->get_ops()) {
    const auto gather = ov::as_type_ptr<ov::op::v6::GatherElements>(node);
    const auto slice = gather ? ov::as_type_ptr<ov::op::v8::Slice>(gather->get_input_node_shared_ptr(0)) : nullptr;
    if (!slice || slice->get_input_size() != 5) continue;
    const auto start = number(slice->input_value(1)), stop = number(slice->input_value(2)),
               step = number(slice->input_value(3)), axis = number(slice->input_value(4));
    if (start != 0 || step != 1 || !stop || *stop <= 0 || !axis) continue;
    const auto whole = slice->input_value(0);
    const auto make = [](const std::vector<int64_t>& values, const ov::Shape& shape) {
      return std::make_shared<ov::op::v0::Constant>(ov::element::i64, shape, values);
    };
    const auto split = std::make_shared<ov::op::v1::VariadicSplit>(whole, make({*axis}, {}), make({*stop, -1}, {2}));
    gather->input(0).replace_source_output(split->output(0));
  }
}

void replace_boolean_attention_masks(const std::shared_ptr<ov::Model>& model) {
  constexpr size_t kMask = 3;
  for (const auto& node : model->get_ops()) {
    const auto attention = ov::as_type_ptr<ov::op::v13::ScaledDotProductAttention>(node);
    if (!attention || attention->get_input_size() <= kMask) continue;
    const auto mask = attention->input_value(kMask);
    if (mask.get_element_type() != ov::element::boolean) continue;
    const auto number_of = [&](float value) {
      return ov::op::v0::Constant::create(attention->get_input_element_type(0), {}, {value});
    };
    const auto added =
        std::make_shared<ov::op::v1::Select>(mask, number_of(0), number_of(-std::numeric_limits<float>::infinity()));
    attention->input(kMask).replace_source_output(added);
  }
}

}  // namespace cachet::deploy
