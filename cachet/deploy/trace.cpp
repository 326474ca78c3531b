#include "cachet/deploy/trace.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cachet/deploy/free_sizes.h"
#include "cachet/ops/support/compositions.h"

namespace cachet::deploy {
namespace {

namespace jit = torch::jit;

std::shared_ptr<jit::Graph> record(const Traceable& model, const std::vector<std::string>& names,
                                   const std::vector<at::Tensor>& inputs) {
  TORCH_CHECK(inputs.size() == names.size(), "trace: ", names.size(),
              " names of inputs were given, but the number of inputs is ", inputs.size());
  const at::NoGradGuard no_grad;
  const ops::CompositionsTraced compositions;
  model(inputs);  // what layers keep for tensors of these sizes is made now: it is not a step of the graph
  jit::Stack stack(inputs.begin(), inputs.end());
  const auto run = [&](const jit::Stack& given) -> jit::Stack {
    std::vector<at::Tensor> tensors;
    for (const c10::IValue& value : given) tensors.push_back(value.toTensor());
    return {model(tensors)};
  };
  const auto graph = jit::tracer::trace(
                         std::move(stack), run, [](const at::Tensor&) { return std::string(); }, /*strict=*/true,
                         /*force_outplace=*/false, /*self=*/nullptr, names)
                         .first->graph;
  jit::EliminateDeadCode(graph);
  return graph;
}

/// The same position of all graphs, in their order.
using Nodes = std::vector<jit::Node*>;

/// A whole number that all graphs have in one position, one value for each.
std::optional<std::vector<int64_t>> numbers_of(const Nodes& nodes) {
  std::vector<int64_t> values;
  for (jit::Node* node : nodes) {
    const auto value = jit::toIValue(node->output());
    if (!value || !value->isInt()) return std::nullopt;
    values.push_back(value->toInt());
  }
  return values;
}

bool same_constant(jit::Node* one, jit::Node* other) {
  const auto a = jit::toIValue(one->output()), b = jit::toIValue(other->output());
  if (!a || !b || a->tagKind() != b->tagKind()) return false;
  // NaN in both is the same: it is a value of the model, not something that depends on a size.
  if (a->isDouble()) return a->toDouble() == b->toDouble() || (std::isnan(a->toDouble()) && std::isnan(b->toDouble()));
  if (!a->isTensor()) return *a == *b;
  const at::Tensor &x = a->toTensor(), &y = b->toTensor();
  if (x.scalar_type() != y.scalar_type() || x.sizes() != y.sizes()) return false;
  return at::equal(x, y) || (x.is_floating_point() && at::allclose(x, y, 0, 0, /*equal_nan=*/true));
}

/// Graphs of one model, traced with several sizes, that are to become the first of them for all sizes.
class Merged {
 public:
  Merged(std::vector<std::shared_ptr<jit::Graph>> graphs, const std::vector<FreeSize>& free_sizes,
         const SizeSamples& samples)
      : graphs_(std::move(graphs)), free_sizes_(free_sizes), samples_(samples) {}

  void merge() {
    std::vector<std::vector<jit::Node*>> lists;
    for (const auto& graph : graphs_) {
      lists.emplace_back();
      for (jit::Node* node : graph->nodes()) {
        TORCH_CHECK(node->blocks().empty(), "trace: '", node->kind().toQualString(), "' has a block");
        lists.back().push_back(node);
      }
    }
    for (size_t graph = 1; graph < lists.size(); ++graph) {
      const auto [one, other] =
          std::ranges::mismatch(lists[0], lists[graph], std::ranges::equal_to(), &jit::Node::kind, &jit::Node::kind);
      require_alike(graph, one == lists[0].end() && other == lists[graph].end(),
                    one == lists[0].end() ? "the number of steps"
                                          : "a step (" + std::string((*one)->kind().toQualString()) + ")");
    }
    first_step_ = lists.front().front();
    for (size_t i = 0; i < lists.front().size(); ++i) {
      Nodes nodes;
      for (const auto& list : lists) nodes.push_back(list[i]);
      merge_nodes(nodes);
    }
  }

 private:
  void require_alike(size_t graph, bool alike, const std::string& what) const {
    TORCH_CHECK(alike, what, " of the graph depends on ", samples_.words_for(graph, free_sizes_));
  }

  void merge_nodes(const Nodes& nodes) {
    for (size_t graph = 1; graph < nodes.size(); ++graph)
      require_alike(graph, nodes[graph]->inputs().size() == nodes[0]->inputs().size(), "a step");
    if (nodes[0]->kind() != jit::prim::Constant) return;
    if (const auto numbers = numbers_of(nodes)) {
      if (const auto form = SizeForm::of(*numbers, samples_)) {
        if (!form->constant()) replace(nodes[0]->output(), *form);
        return;
      }
      for (size_t graph = 1; graph < nodes.size(); ++graph)
        require_alike(graph, (*numbers)[graph] == (*numbers)[0], "a number");
    }
    for (size_t graph = 1; graph < nodes.size(); ++graph)
      require_alike(graph, same_constant(nodes[0], nodes[graph]), "a constant");
  }

  jit::Value* number(int64_t value) { return graphs_[0]->insertConstant(value); }

  // The size of an input, asked for once.
  jit::Value* size_value(size_t index) {
    if (sizes_.empty()) sizes_.resize(free_sizes_.size());
    if (sizes_[index] == nullptr) {
      const FreeSize& size = free_sizes_[index];
      jit::Value* input = graphs_[0]->inputs()[size.input];
      sizes_[index] = graphs_[0]->insert(jit::aten::size, {input, number(size.dimension)});
    }
    return sizes_[index];
  }

  void replace(jit::Value* constant, const SizeForm& form) {
    // All of it before the first step, where every later one can read it, and after what was put there before.
    const jit::WithInsertPoint at_start(first_step_);
    jit::Value* result = nullptr;
    if (form.factor != 1) result = number(form.factor);
    for (const SizeForm::Term& term : form.terms) {
      jit::Value* value = size_value(term.size);
      if (term.slope != 1) value = graphs_[0]->insert(jit::aten::mul, {value, number(term.slope)});
      if (term.offset != 0) value = graphs_[0]->insert(jit::aten::add, {value, number(term.offset)});
      result = result == nullptr ? value : graphs_[0]->insert(jit::aten::mul, {result, value});
    }
    constant->replaceAllUsesWith(result);
  }

  std::vector<std::shared_ptr<jit::Graph>> graphs_;
  const std::vector<FreeSize>& free_sizes_;
  const SizeSamples& samples_;
  jit::Node* first_step_ = nullptr;
  std::vector<jit::Value*> sizes_;
};

}  // namespace

std::shared_ptr<jit::Graph> trace(const Traceable& model, const std::vector<std::string>& input_names,
                                  const std::vector<FreeSize>& free_sizes, const MakeInputs& inputs) {
  const SizeSamples samples(free_sizes);
  std::vector<std::shared_ptr<jit::Graph>> graphs;
  for (const std::vector<int64_t>& sizes : samples.all()) graphs.push_back(record(model, input_names, inputs(sizes)));
  Merged(graphs, free_sizes, samples).merge();
  jit::EliminateDeadCode(graphs.front());
  return graphs.front();
}

}  // namespace cachet::deploy
