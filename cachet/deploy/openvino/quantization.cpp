#include "cachet/deploy/openvino/quantization.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/convolution.hpp>
#include <openvino/op/fake_quantize.hpp>
#include <openvino/op/matmul.hpp>
#include <openvino/op/multiply.hpp>
#include <openvino/op/reduce_max.hpp>
#include <openvino/op/reduce_min.hpp>
#include <utility>
#include <vector>

#include "cachet/deploy/openvino/openvino_problem.h"

namespace cachet::deploy {
namespace {

using ov::op::v0::Constant;

// Seven bits: processors without products of 8 bits (VNNI) add two of them in 16, which hold 2 · 255 · 63 and no more.
constexpr float kLargestWeight = 63;
constexpr size_t kLevels = 256;

/// The weight of a layer that can multiply in 8 bits, (outputs, …) or, of a product that is not transposed, (inputs,
/// outputs); null for other nodes.
std::shared_ptr<Constant> weight_of(const ov::Node& node) {
  const bool product = ov::is_type<ov::op::v0::MatMul>(&node),
             convolution = ov::is_type<ov::op::v1::Convolution>(&node);
  if (!product && !convolution) return nullptr;
  auto weight = ov::as_type_ptr<Constant>(node.get_input_node_shared_ptr(1));
  const bool fits =
      weight && weight->get_element_type() == ov::element::f32 && (convolution || weight->get_shape().size() == 2);
  return fits ? weight : nullptr;
}

size_t output_axis(const ov::Node& node) {
  const auto* product = ov::as_type<const ov::op::v0::MatMul>(&node);
  return product != nullptr && !product->get_transpose_b() ? 1 : 0;
}

// Integers times a scale for each output channel.
ov::Output<ov::Node> rounded(const Constant& weight, size_t axis) {
  const ov::Shape shape = weight.get_shape();
  const auto values = weight.cast_vector<float>();
  const size_t channels = shape[axis];
  const size_t stride = std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end(), size_t{1},
                                        std::multiplies<>());
  const auto channel_of = [&](size_t i) { return i / stride % channels; };
  std::vector<float> scales(channels, 0);
  for (size_t i = 0; i < values.size(); ++i)
    scales[channel_of(i)] = std::max(scales[channel_of(i)], std::abs(values[i]));
  for (float& scale : scales) scale = scale > 0 ? scale / kLargestWeight : 1;
  std::vector<int8_t> integers(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    integers[i] = static_cast<int8_t>(std::lround(values[i] / scales[channel_of(i)]));
  ov::Shape per_channel(shape.size(), 1);
  per_channel[axis] = channels;
  const auto wide =
      std::make_shared<ov::op::v0::Convert>(Constant::create(ov::element::i8, shape, integers), ov::element::f32);
  return std::make_shared<ov::op::v1::Multiply>(wide, Constant::create(ov::element::f32, per_channel, scales));
}

// Steps between `least` and `largest`, of which one is zero.
ov::Output<ov::Node> rounded(const ov::Output<ov::Node>& read, double least, double largest) {
  const double step = (largest - least) / (kLevels - 1);
  const double zero = std::round(-least / step);
  const auto bound = [](double value) {
    return Constant::create(ov::element::f32, ov::Shape{}, {static_cast<float>(value)});
  };
  const auto low = bound(-zero * step), high = bound((kLevels - 1 - zero) * step);
  return std::make_shared<ov::op::v0::FakeQuantize>(read, low, high, low, high, kLevels);
}

template <class Reduction>
std::shared_ptr<ov::Node> over_all(const ov::Output<ov::Node>& value) {
  std::vector<int64_t> axes(static_cast<size_t>(value.get_partial_shape().rank().get_length()));
  std::iota(axes.begin(), axes.end(), 0);
  return std::make_shared<Reduction>(value, Constant::create(ov::element::i64, {axes.size()}, axes));
}

}  // namespace

class Quantization::Calibration : public runtime::Session {
 public:
  explicit Calibration(Quantization& owner) : owner_(owner) {
    ov::ResultVector results;
    for (const auto& read : owner.read_)
      for (const auto& reduced : {over_all<ov::op::v1::ReduceMin>(read), over_all<ov::op::v1::ReduceMax>(read)})
        results.push_back(std::make_shared<ov::op::v0::Result>(reduced));
    // The reductions hang next to the model's nodes, which they leave as they are.
    const ov::ResultVector own = owner.model_->get_results();
    results.insert(results.begin(), own.begin(), own.end());
    const auto watched = std::make_shared<ov::Model>(results, owner.model_->get_parameters());
    request_ = runtime::openvino_core()
                   .compile_model(watched, "CPU", ov::hint::inference_precision(ov::element::f32))
                   .create_infer_request();
  }

  runtime::Scores run(std::span<const runtime::Input> inputs) override {
    told_by_openvino([&] {
      runtime::set_inputs(request_, inputs);
      request_.infer();
    });
    for (size_t i = 0; i < owner_.ranges_.size(); ++i) {
      Range& range = owner_.ranges_[i];
      range.least += *request_.get_output_tensor(1 + 2 * i).data<float>();
      range.largest += *request_.get_output_tensor(2 + 2 * i).data<float>();
      ++range.batches;
    }
    return runtime::scores_of(request_.get_output_tensor(0));
  }

 private:
  Quantization& owner_;
  ov::InferRequest request_;
};

Quantization::Quantization(std::shared_ptr<ov::Model> model) : model_(std::move(model)) {
  for (const auto& node : model_->get_ordered_ops())
    if (weight_of(*node) && std::ranges::find(read_, node->input_value(0)) == read_.end())
      read_.push_back(node->input_value(0));
  ranges_.resize(read_.size());
}

std::unique_ptr<runtime::Session> Quantization::calibration() {
  return told_by_openvino([&] { return std::make_unique<Calibration>(*this); });
}

std::shared_ptr<ov::Model> Quantization::quantized() {
  std::vector<std::shared_ptr<ov::Node>> layers;
  for (const auto& node : model_->get_ordered_ops())
    if (weight_of(*node)) layers.push_back(node);
  for (size_t i = 0; i < read_.size(); ++i) {
    TORCH_CHECK(ranges_[i].batches > 0, "openvino: a model must be calibrated before it is quantised");
    const double least = std::min(0.0, ranges_[i].least / static_cast<double>(ranges_[i].batches)),
                 largest = std::max(0.0, ranges_[i].largest / static_cast<double>(ranges_[i].batches));
    if (least == largest || !std::isfinite(largest - least)) continue;  // nothing but zeros: left as it is
    const ov::Output<ov::Node> narrow = rounded(read_[i], least, largest);
    for (const auto& layer : layers) {
      if (layer->input_value(0) != read_[i]) continue;
      const auto weight = weight_of(*layer);
      layer->input(0).replace_source_output(narrow);
      layer->input(1).replace_source_output(rounded(*weight, output_axis(*layer)));
      ++layers_;
    }
  }
  told_by_openvino([&] { model_->validate_nodes_and_infer_types(); });
  return model_;
}

}  // namespace cachet::deploy
