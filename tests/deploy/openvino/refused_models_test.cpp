// The message about a model that an engine cannot take: a line, without positions in the sources of a library.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/deploy/cannot_convert.h"
#include "cachet/deploy/model_writers.h"
#include "cachet/deploy/openvino/quantization.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::deploy {
namespace {

PortableModel traced(const Traceable& model) {
  PortableModel portable{nullptr, {{"x", runtime::Element::float32, {-1, 3}}}, 3, {}};
  portable.graph = trace(model, {"x"}, {{"the batch", 0, 0}}, [](const auto& sizes) {
    return std::vector<at::Tensor>{at::randn({sizes[0], 3})};
  });
  return portable;
}

TEST(RefusedModels, OperatorsThatAnEngineDoesNotKnowAreNamed) {
  const test::TemporaryDirectory folder;
  const PortableModel unknown = traced([](const auto& inputs) { return at::lgamma(at::renorm(inputs[0], 2, 0, 1)); });
  EXPECT_EQ(test::thrown_message<CannotConvert>([&] { write_for_openvino(unknown, folder.path(), {}, {}); }),
            "OpenVINO reports: No conversion rule found for operations: aten::lgamma, aten::renorm");
  EXPECT_EQ(test::thrown_message<CannotConvert>([&] { write_for_onnx(unknown, folder.path(), {}); }),
            "the conversion to ONNX has no operators for aten::lgamma, aten::renorm");
}

TEST(RefusedModels, WhatLibTorchSaysIsALine) {
  EXPECT_EQ(test::thrown_message<CannotConvert>([] {
              converted([] { return at::zeros({2}).matmul(at::zeros({3})); });
            }).find('\n'),
            std::string::npos);
  EXPECT_THROW(converted([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  EXPECT_EQ(test::thrown_message<CannotConvert>([] { converted([]() -> int { throw std::out_of_range("a\nb"); }); }),
            "a");
}

}  // namespace
}  // namespace cachet::deploy
