// What the files of exports record about themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <openvino/op/constant.hpp>
#include <openvino/op/select.hpp>
#include <openvino/runtime/core.hpp>

#include "cachet/deploy/model_writers.h"
#include "cachet/deploy/rewrite.h"
#include "tests/deploy/trained_model.h"
#include "tests/support/bytes.h"
#include "tests/support/temporary_directory.h"

namespace cachet::deploy {
namespace {

const ModelMetadata kMetadata{
    {kVersionOfMetadata, "0.1.0"}, {"model", "vit_tiny_patch16_224"}, {"classes", R"(["<b> & \"red\"","ümlaut"])"}};

std::shared_ptr<models::Model> small_trained_model(const test::SmallModel& small) {
  auto model = trained(small, {"norm.kind=layer"}, at::kFloat);
  rewrite(*model);
  return model;
}

TEST(WrittenModel, SaysWhatItIs) {
  const auto portable = make_portable(small_trained_model(test::small_models().front()));
  const test::TemporaryDirectory folder;
  write_for_openvino(portable, folder.path(), kMetadata, {});
  write_for_onnx(portable, folder.path(), kMetadata);
  const auto openvino = ov::Core().read_model((folder / "model.xml").string());
  for (const auto& [name, value] : kMetadata) EXPECT_EQ(openvino->get_rt_info<std::string>("cachet", name), value);
  EXPECT_EQ(openvino->get_rt_info<std::string>("cachet", "minimum_openvino_version"), "2024.6");
  const std::string onnx = test::read_bytes(folder / "model.onnx");
  for (const auto& [name, value] : kMetadata) {
    EXPECT_NE(onnx.find(name), std::string::npos) << name;
    EXPECT_NE(onnx.find(value), std::string::npos) << value;
  }
}

/// The largest whole number that is chosen for some elements.
int64_t largest_choice(const ov::Model& model) {
  int64_t largest = 0;
  for (const auto& node : model.get_ops()) {
    if (!ov::is_type<ov::op::v1::Select>(node)) continue;
    for (const auto& input : node->input_values())
      if (const auto constant = ov::as_type_ptr<ov::op::v0::Constant>(input.get_node_shared_ptr());
          constant && constant->get_element_type() == ov::element::i64)
        for (const int64_t value : constant->cast_vector<int64_t>()) largest = std::max(largest, value);
  }
  return largest;
}

// OpenVINO 2024.6 and 2025.2 make a negative number of 2^31 - 1 and of larger ones: padding came first, not last.
TEST(WrittenModel, SortsByNumbersThatOlderVersionsHave) {
  const auto model = trained(test::small_models()[test::small_models().size() - 2],
                             {"attention.kind=reformer", "attention.chunk_size=4", "attention.buckets=4"}, at::kFloat);
  rewrite(*model);
  const test::TemporaryDirectory folder;
  write_for_openvino(make_portable(model), folder.path(), {}, {});
  const auto written = ov::Core().read_model((folder / "model.xml").string());
  EXPECT_GT(largest_choice(*written), 4);
  EXPECT_LE(largest_choice(*written), 1 << 24);
}

// Programs that do not ask for a precision get bfloat16 from OpenVINO if the processor multiplies it.
TEST(WrittenModel, SaysInWhichNumbersItIsComputed) {
  const auto portable = make_portable(small_trained_model(test::small_models().front()));
  for (const auto& [precision, word] : std::vector<std::pair<runtime::Precision, std::string>>{
           {runtime::Precision::float32, "f32"}, {runtime::Precision::bfloat16, "bf16"}}) {
    const test::TemporaryDirectory folder;
    write_for_openvino(portable, folder.path(), {}, {.precision = precision});
    const auto model = ov::Core().read_model((folder / "model.xml").string());
    EXPECT_EQ(model->get_rt_info<std::string>("runtime_options", "INFERENCE_PRECISION_HINT"), word);
  }
}

}  // namespace
}  // namespace cachet::deploy
