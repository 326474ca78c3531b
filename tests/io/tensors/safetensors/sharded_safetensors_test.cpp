#include "cachet/io/tensors/safetensors/sharded_safetensors.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/weights_file.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

struct Shards {
  Shards() {
    write_safetensors(folder / "model-1.safetensors", {{"a", at::full({2}, 1.0)}, {"b", at::full({3}, 2.0)}});
    write_safetensors(folder / "model-2.safetensors", {{"c", at::full({1}, 3.0)}});
  }
  std::string refusal(const std::string& index) const {
    std::ofstream(folder / kIndex) << index;
    return test::thrown_message<Error>([&] { read_sharded_safetensors(folder / kIndex); });
  }

  test::TemporaryDirectory folder;
};

constexpr const char* kMap =
    R"("weight_map": {"a": "model-1.safetensors", "c": "model-2.safetensors", "b": "model-1.safetensors"})";

TEST(ShardedSafetensors, AreReadByTheirIndex) {
  const Shards shards;
  std::ofstream(shards.folder / kIndex) << R"({"metadata": {"total_size": 24, "more": [{}]}, )" << kMap << "}";
  const TensorMap tensors = read_weights_file(shards.folder / kIndex).tensors;
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_TRUE(at::equal(tensors.at("b"), at::full({3}, 2.0)));
  EXPECT_TRUE(at::equal(tensors.at("c"), at::full({1}, 3.0)));
}

TEST(ShardedSafetensors, AreHeldToTheirIndex) {
  const Shards shards;
  const std::string map = kMap;
  for (const auto& [index, said] : std::vector<std::pair<std::string, std::string>>{
           {"{}", "must have a weight_map"},
           {"[]", "expected '{'"},
           {R"({"weight_map": {}})", "must have a weight_map"},
           {"{" + map + "," + map + "}", "a weight_map twice"},
           {"{" + map + "} x", "index"},
           {R"({"weight_map": {"a": "model-1.safetensors", "a": "model-1.safetensors"}})", "the tensor 'a' twice"},
           {R"({"weight_map": {"a": "../model-1.safetensors"}})", "must be a safetensors file in the same folder"},
           {R"({"weight_map": {"a": "/etc/passwd"}})", "must be a safetensors file in the same folder"},
           {R"({"weight_map": {"a": 5}})", "index"},
           {R"({"weight_map": {"a": "model-3.safetensors"}})", "model-3.safetensors"},
           {R"({"weight_map": {"a": "model-1.safetensors", "x": "model-1.safetensors", "b": "model-1.safetensors"}})",
            "has no tensor 'x'"},
           {R"({"weight_map": {"a": "model-1.safetensors"}})", "has tensors that"},
       }) {
    const std::string refusal = shards.refusal(index);
    EXPECT_NE(refusal.find(said), std::string::npos) << index << "\n" << refusal;
  }
}

}  // namespace
}  // namespace cachet::io
