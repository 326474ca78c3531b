#include "cachet/deploy/openvino/graph_decoder.h"

#include <torch/csrc/jit/ir/alias_analysis.h>
#include <torch/csrc/jit/ir/ir.h>

#include <openvino/op/constant.hpp>
#include <set>

#include "cachet/deploy/openvino/element_types.h"

namespace cachet::deploy {
namespace {

namespace jit = torch::jit;
namespace pytorch = ov::frontend::pytorch;
namespace type = ov::frontend::type;

ov::Any type_of(const c10::Type& torch_type) {
  switch (torch_type.kind()) {
    case c10::TypeKind::IntType:
      return type::PyScalar(ov::element::i64);
    case c10::TypeKind::FloatType:
      return type::PyScalar(ov::element::f32);
    case c10::TypeKind::BoolType:
      return type::PyScalar(ov::element::boolean);
    case c10::TypeKind::StringType:
    case c10::TypeKind::DeviceObjType:
      return type::Str();
    case c10::TypeKind::NoneType:
      return type::PyNone();
    case c10::TypeKind::ListType:
      return type::List(type_of(*torch_type.expectRef<c10::ListType>().getElementType()));
    case c10::TypeKind::TensorType: {
      const auto scalar = torch_type.expectRef<c10::TensorType>().scalarType();
      return type::Tensor(ov::Any(scalar ? element_type(*scalar) : ov::element::Type(ov::element::dynamic)));
    }
    default:
      return ov::element::Type(ov::element::dynamic);
  }
}

ov::PartialShape shape_of(const jit::Value& value) {
  const auto tensor = value.type()->cast<c10::TensorType>();
  const auto rank = tensor ? tensor->dim() : std::nullopt;
  return rank ? ov::PartialShape::dynamic(static_cast<int64_t>(*rank)) : ov::PartialShape::dynamic();
}

template <class Number>
ov::OutputVector list_constant(const ov::element::Type& element, const std::vector<Number>& values) {
  return std::make_shared<ov::op::v0::Constant>(element, ov::Shape{values.size()}, values)->outputs();
}

ov::OutputVector constant_of(const c10::IValue& value) {
  const auto scalar = [](const ov::element::Type& element, auto number) {
    return std::make_shared<ov::op::v0::Constant>(element, ov::Shape{}, std::vector{number})->outputs();
  };
  if (value.isInt()) return scalar(ov::element::i64, value.toInt());
  if (value.isDouble()) return scalar(ov::element::f32, static_cast<float>(value.toDouble()));
  if (value.isBool()) return scalar(ov::element::boolean, static_cast<char>(value.toBool()));
  if (value.isIntList()) return list_constant(ov::element::i64, value.toIntVector());
  if (value.isDoubleList()) return list_constant(ov::element::f32, value.toDoubleVector());
  if (value.isTensor()) return tensor_constant(value.toTensor())->outputs();
  return {};
}

/// A graph, or one step of it.
class GraphDecoder : public pytorch::TorchDecoder {
 public:
  struct Shared {
    std::shared_ptr<jit::Graph> graph;
    std::unique_ptr<jit::AliasDb> aliases;
  };

  explicit GraphDecoder(std::shared_ptr<const Shared> shared, jit::Node* node = nullptr)
      : shared_(std::move(shared)), node_(node) {
    const auto in = node ? node->inputs() : shared_->graph->inputs();
    const auto out = node ? node->outputs() : shared_->graph->outputs();
    in_.assign(in.begin(), in.end());
    out_.assign(out.begin(), out.end());
    for (const jit::Value* value : in_) input_ids_.push_back(value->unique()), names_in_.push_back(value->debugName());
    for (const jit::Value* value : out_)
      output_ids_.push_back(value->unique()), names_out_.push_back(value->debugName());
    if (node == nullptr) return;
    kind_ = node->kind().toQualString();
    if (const auto* schema = node->maybeSchema()) schema_ = c10::toString(*schema);
    if (node->kind() != jit::prim::Constant) return;
    const auto value = jit::toIValue(node->output());
    if (value && value->isString()) text_ = value->toStringRef();
    if (value && value->isDevice()) text_ = value->toDevice().str();
  }

  const std::vector<size_t>& inputs() const override { return input_ids_; }
  const std::vector<size_t>& outputs() const override { return output_ids_; }
  size_t output(size_t index) const override { return output_ids_.at(index); }
  size_t num_of_outputs() const override { return output_ids_.size(); }
  size_t output_list_size() const override { return 0; }

  const std::string& get_input_debug_name(size_t index) const override { return names_in_.at(index); }
  const std::string& get_input_signature_name(size_t index) const override { return names_in_.at(index); }
  const std::string& get_output_debug_name(size_t index) const override { return names_out_.at(index); }
  ov::PartialShape get_input_shape(size_t index) const override { return shape_of(*in_.at(index)); }
  ov::PartialShape get_output_shape(size_t index) const override { return shape_of(*out_.at(index)); }
  ov::Any get_input_type(size_t index) const override { return type_of(*in_.at(index)->type()); }
  ov::Any get_output_type(size_t index) const override { return type_of(*out_.at(index)->type()); }
  const std::vector<size_t>& get_input_strides(size_t) const override { return no_strides_; }
  bool input_is_none(size_t index) const override {
    return index >= in_.size() || in_[index]->type()->kind() == c10::TypeKind::NoneType;
  }

  const std::string& get_op_type() const override { return kind_; }
  const std::string& get_schema() const override { return schema_; }
  const std::string& decoder_type_name() const override {
    static const std::string name = "ts";
    return name;
  }

  ov::OutputVector as_constant() const override {
    if (node_ == nullptr || node_->kind() != jit::prim::Constant) return {};
    const auto value = jit::toIValue(node_->output());
    ov::OutputVector made = value ? constant_of(*value) : ov::OutputVector();
    if (!made.empty()) made[0].get_node()->set_friendly_name(names_out_[0]);
    return made;
  }
  const std::string& as_string() const override { return text_; }
  ov::OutputVector try_decode_get_attr() const override { return {}; }
  ov::Any const_input(size_t) const override { return {}; }

  std::shared_ptr<ov::Node> mark_node(std::shared_ptr<ov::Node> made) const override {
    made->set_friendly_name(kind_ + "/" + (names_out_.empty() ? "" : names_out_[0]) + "/" + made->get_type_name());
    return made;
  }

  size_t get_subgraph_size() const override { return node_ ? 0 : 1; }
  void visit_subgraph(std::function<void(std::shared_ptr<TorchDecoder>)> visit) const override {
    if (node_ != nullptr) return;
    for (jit::Node* node : shared_->graph->nodes()) {
      steps_.push_back(std::make_shared<GraphDecoder>(shared_, node));
      visit(steps_.back());
    }
  }
  std::shared_ptr<TorchDecoder> get_subgraph_decoder(size_t) const override { return nullptr; }

  bool may_produce_alias(size_t in, size_t out) const override {
    // The analysis is careful about operators that always give memory of their own.
    static const std::set<std::string> own_memory{"aten::matmul", "aten::_convolution", "aten::conv2d", "aten::clone"};
    return !own_memory.contains(kind_) && shared_->aliases->mayContainAlias(in_.at(in), out_.at(out));
  }

  bool is_input_inlined(size_t) const override { return false; }
  std::shared_ptr<TorchDecoder> get_inlined_input_decoder(size_t) const override { return nullptr; }
  ov::Any get_attribute(const std::string&) const override { return {}; }
  size_t get_named_input(const std::string&) const override { return 0; }
  pytorch::DecoderRTInfo get_rt_info() const override { return {}; }
  bool has_converter() const override { return false; }
  ov::OutputVector convert(const ov::frontend::NodeContext*) const override { return {}; }

 private:
  std::shared_ptr<const Shared> shared_;
  jit::Node* node_;
  std::vector<jit::Value*> in_, out_;
  std::vector<size_t> input_ids_, output_ids_, no_strides_;
  std::vector<std::string> names_in_, names_out_;
  std::string kind_, schema_, text_;
  mutable std::vector<std::shared_ptr<TorchDecoder>> steps_;  // the reader keeps none of them
};

}  // namespace

std::shared_ptr<pytorch::TorchDecoder> decode_graph(std::shared_ptr<jit::Graph> graph) {
  auto shared = std::make_shared<GraphDecoder::Shared>();
  shared->aliases = std::make_unique<jit::AliasDb>(graph);
  shared->graph = std::move(graph);
  return std::make_shared<GraphDecoder>(std::move(shared));
}

}  // namespace cachet::deploy
