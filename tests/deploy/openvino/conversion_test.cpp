// Every backbone with and without caches, small: OpenVINO computes what the model does, for any batch and length.
#include "cachet/deploy/openvino/conversion.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <openvino/op/scaled_dot_product_attention.hpp>
#include <openvino/runtime/core.hpp>

#include "cachet/deploy/classifier_inputs.h"
#include "cachet/deploy/onnx/onnx_conversion.h"
#include "cachet/deploy/openvino/quantization.h"
#include "cachet/deploy/rewrite.h"
#include "cachet/runtime/openvino/openvino_core.h"
#include "tests/deploy/synthetic_inputs.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/refused.h"
#include "tests/support/score_difference.h"
#include "tests/support/thrown_message.h"

namespace cachet::deploy {
namespace {

using test::Settings;
using test::small_models;
using test::SmallModel;
using test::text_of;

/// Norms that stay and that fold, caches that freeze and that do not.
std::vector<Settings> plug_ins_of(const SmallModel& model) {
  std::vector<Settings> all{{"norm.kind=layer"},
                            {"norm.kind=un", "cache.kind=grc"},
                            {"norm.kind=rms", "cache.kind=grc", "cache.inference=per_sample"}};
  if (model.has_grid)
    all.push_back({"norm.kind=un", "cache.kind=grc", "cache.positional_convolution=true", "cache.ratio=0.5"});
  return all;
}

at::Tensor run(ov::InferRequest& request, std::vector<at::Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    request.set_input_tensor(
        i, ov::Tensor(element_type(inputs[i].scalar_type()),
                      ov::Shape(inputs[i].sizes().begin(), inputs[i].sizes().end()), inputs[i].mutable_data_ptr()));
  request.infer();
  const ov::Tensor scores = request.get_output_tensor();
  const ov::Shape shape = scores.get_shape();
  return at::from_blob(const_cast<float*>(scores.data<float>()),
                       {static_cast<int64_t>(shape[0]), static_cast<int64_t>(shape[1])})
      .clone();
}

/// For any batch and length.
void expect_same_answers(models::Model& model, ov::InferRequest& request) {
  for (const int64_t batch : {1, 4}) {
    const std::vector<at::Tensor> inputs = synthetic_inputs(model, batch, /*shorter=*/batch);
    const test::ScoreDifference difference =
        test::score_difference(classify(model, inputs), run(request, inputs), 1e-4);
    EXPECT_TRUE(difference.holds(1e-4)) << batch << ": " << difference.largest;
  }
}

class Conversion : public ::testing::TestWithParam<SmallModel> {};

TEST_P(Conversion, ComputesWhatTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const Settings& plug_ins : plug_ins_of(GetParam())) {
    SCOPED_TRACE(text_of(plug_ins));
    const auto model = trained(GetParam(), plug_ins, at::kFloat);
    rewrite(*model);
    const PortableModel portable = make_portable(model);
    EXPECT_TRUE(portable.notes.empty()) << portable.notes.front();
    auto request =
        ov::Core()
            .compile_model(convert_to_openvino(portable), "CPU", ov::hint::inference_precision(ov::element::f32))
            .create_infer_request();
    expect_same_answers(*model, request);
  }
}

// OpenVINO before 2026 reads such a mask as numbers, and answers something else without an error.
TEST_P(Conversion, HasNoBooleanMaskOfAnAttention) {
  const auto model = trained(GetParam(), {"norm.kind=layer"}, at::kFloat);
  rewrite(*model);
  for (const auto& node : convert_to_openvino(make_portable(model))->get_ops()) {
    if (!ov::is_type<ov::op::v13::ScaledDotProductAttention>(node)) continue;
    for (const auto& input : node->inputs()) EXPECT_NE(input.get_element_type(), ov::element::boolean);
  }
}

TEST_P(Conversion, WritesOnnxThatComputesWhatTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const Settings& plug_ins : plug_ins_of(GetParam())) {
    SCOPED_TRACE(text_of(plug_ins));
    const auto model = trained(GetParam(), plug_ins, at::kFloat);
    rewrite(*model);
    const std::string bytes = convert_to_onnx(make_portable(model)).serialized("Cachet", "test");
    auto request = ov::Core()
                       .compile_model(ov::Core().read_model(bytes, ov::Tensor()), "CPU",
                                      ov::hint::inference_precision(ov::element::f32))
                       .create_infer_request();
    expect_same_answers(*model, request);
  }
}

/// Attention functions other than softmax, in blocks that are smaller than the sequences.
const std::vector<Settings>& attentions() {
  static const std::vector<Settings> all{
      {"attention.kind=elu"},
      {"attention.kind=kernel"},
      {"attention.kind=kernel", "attention.form=linear"},
      {"attention.kind=kernel", "attention.form=oglu", "attention.layers=2"},
      {"attention.kind=kernel", "attention.form=feed_forward", "attention.norm=layer"},
      {"attention.kind=kernel", "attention.form=feed_forward", "attention.activation=sigmoid"},
      {"attention.kind=performer", "attention.features=relu"},
      {"attention.kind=performer", "attention.features=softmax"},
      {"attention.kind=local", "attention.window=2"},
      {"attention.kind=reformer", "attention.chunk_size=4", "attention.buckets=4"},
      {"attention.kind=reformer", "attention.chunk_size=4", "attention.buckets=4", "attention.rounds=2",
       "attention.score=unit"},
      {"attention.kind=reformer", "attention.chunk_size=5", "attention.buckets=4", "attention.rounds=2"},
      {"attention.kind=bigbird", "attention.block_size=4", "attention.random_blocks=2"},
      {"attention.kind=bigbird", "attention.block_size=5", "attention.window=1", "attention.random_blocks=1"},
  };
  return all;
}

class OnnxAttention : public ::testing::TestWithParam<SmallModel> {};

TEST_P(OnnxAttention, ComputesWhatTheModelDoes) {
  const at::NoGradGuard no_grad;
  for (const Settings& attention : attentions()) {
    SCOPED_TRACE(text_of(attention));
    const auto model = trained(GetParam(), attention, at::kFloat);
    rewrite(*model);
    const PortableModel portable = make_portable(model);
    const std::string bytes = convert_to_onnx(portable).serialized("Cachet", "test");
    auto request = ov::Core()
                       .compile_model(ov::Core().read_model(bytes, ov::Tensor()), "CPU",
                                      ov::hint::inference_precision(ov::element::f32))
                       .create_infer_request();
    const bool free = portable.inputs.front().shape[1] < 0 || portable.inputs.size() == 1;
    for (const int64_t batch : {1, 4}) {
      const std::vector<at::Tensor> inputs = synthetic_inputs(*model, batch, /*shorter=*/free ? batch : 0);
      const test::ScoreDifference difference =
          test::score_difference(classify(*model, inputs), run(request, inputs), 1e-4);
      EXPECT_TRUE(difference.holds(1e-4)) << batch << ": " << difference.largest;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxAttention,
                         ::testing::Values(small_models().front(), small_models()[small_models().size() - 2]),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

TEST_P(Conversion, MultipliesInEightBitsWithinReach) {
  const at::NoGradGuard no_grad;
  const auto model = trained(GetParam(), {"norm.kind=un", "cache.kind=grc"}, at::kFloat);
  rewrite(*model);
  Quantization quantization(convert_to_openvino(make_portable(model)));
  test::expect_refused([&] { Quantization(convert_to_openvino(make_portable(model))).quantized(); },
                       "must be calibrated before it is quantised");
  const std::vector<at::Tensor> inputs = synthetic_inputs(*model, 16);
  const at::Tensor expected = classify(*model, inputs);
  {
    const auto calibration = quantization.calibration();
    const test::ScoreDifference same = test::score_difference(expected, classify(*calibration, inputs), 1e-4);
    EXPECT_TRUE(same.holds(1e-4)) << same.largest;
  }
  const auto narrow = quantization.quantized();
  EXPECT_GE(quantization.layers(), 5);
  auto request =
      ov::Core().compile_model(narrow, "CPU", ov::hint::inference_precision(ov::element::f32)).create_infer_request();
  EXPECT_NE(test::thrown_message<std::runtime_error>([&] { runtime::set_inputs(request, {}); }).find(", not 0"),
            std::string::npos)
      << "inputs of an earlier call are none of this one's";
  const test::ScoreDifference difference = test::score_difference(expected, run(request, inputs), 1);
  EXPECT_LT(difference.largest, 0.3) << difference.largest;  // weights of these tests are far larger than trained ones
  EXPECT_GT(difference.largest, 1e-4) << "nothing was rounded";
}

INSTANTIATE_TEST_SUITE_P(Models, Conversion, ::testing::ValuesIn(small_models()),
                         [](const auto& info) { return info.param.name + "_" + std::to_string(info.index); });

}  // namespace
}  // namespace cachet::deploy
