#include "cachet/io/tensors/names/name_map.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cachet/io/error.h"
#include "cachet/io/tensors/names/name_pattern.h"
#include "cachet/io/tensors/names/published_names.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

at::Tensor numbers(std::vector<int64_t> shape) { return at::arange(at::ones(shape).numel()).reshape(shape); }

std::vector<std::string> names_of(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

void expect_equal(const TensorMap& one, const TensorMap& other) {
  ASSERT_EQ(names_of(one), names_of(other));
  for (const auto& [name, tensor] : one) EXPECT_TRUE(at::equal(tensor, other.at(name))) << name;
}

TEST(NamePattern, MatchesWholeNames) {
  const auto texts = [](const char* pattern, const char* name) { return NamePattern(pattern).match(name); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts("a.b", "a.b"), Texts());
  EXPECT_FALSE(texts("a.b", "a.bc"));
  EXPECT_FALSE(texts("a.b", "xa.b"));
  EXPECT_EQ(texts("block#.*.**", "block12.3.mlp.fc1"), (Texts{"12", "3", "mlp.fc1"}));
  EXPECT_FALSE(texts("block#", "blockx"));
  EXPECT_FALSE(texts("*", "a.b"));
  EXPECT_EQ(texts("**", ""), Texts{""});
  EXPECT_EQ(texts("**lam", "blocks.0.lam"), Texts{"blocks.0."});
  EXPECT_EQ(texts("**.#.*", "a.1.b.2.c"), (Texts{"a.1.b", "2", "c"}));
  EXPECT_EQ(NamePattern("b.#.*").fill({"4", "x"}), "b.4.x");
}

TEST(NameMap, TheFirstRuleThatMatchesRenames) {
  const NameMap map({Rename{"norm.weight", "last.weight"}, Rename{"norm.**", "n.**"}, Drop{"**.count"}});
  const TensorMap tensors = {
      {"norm.weight", numbers({1})}, {"norm.bias", numbers({2})}, {"a.count", numbers({3})}, {"other", numbers({4})}};
  const NameMap::Result passed = map.apply(tensors);
  EXPECT_EQ(names_of(passed.tensors), (std::vector<std::string>{"last.weight", "n.bias", "other"}));
  EXPECT_EQ(passed.unmatched, std::vector<std::string>{"other"});
  const NameMap::Result strict = map.apply(tensors, NameMap::Unmatched::kLeaveOut);
  EXPECT_EQ(names_of(strict.tensors), (std::vector<std::string>{"last.weight", "n.bias"}));
  EXPECT_EQ(strict.unmatched, std::vector<std::string>{"other"});
}

TEST(NameMap, JoinsSplitsReshapesAndPermutesBothWays) {
  const NameMap map({Join{{"*.q.*", "*.kv.*"}, "*.qkv.*", {1, 2}}, Split{"*.gates", {"*.reset", "*.update"}, {1, 1}, 1},
                     Reshape{"pixels", "patch", {-1, 12}, {-1, 3, 2, 2}}, Permute{"*.cache", "*.state", {2, 0, 1}}});
  const TensorMap theirs = {{"a.q.weight", numbers({2, 3})}, {"a.kv.weight", numbers({4, 3}).add(100)},
                            {"a.q.bias", numbers({2})},      {"a.kv.bias", numbers({4}).add(100)},
                            {"b.q.bias", numbers({3})},      {"b.kv.bias", numbers({6})},
                            {"a.gates", numbers({2, 6})},    {"pixels", numbers({5, 3, 2, 2})},
                            {"x.cache", numbers({2, 3, 4})}};
  const TensorMap ours = map.apply(theirs).tensors;
  EXPECT_EQ(names_of(ours), (std::vector<std::string>{"a.qkv.bias", "a.qkv.weight", "a.reset", "a.update", "b.qkv.bias",
                                                      "patch", "x.state"}));
  EXPECT_TRUE(at::equal(ours.at("a.qkv.weight").narrow(0, 2, 4), theirs.at("a.kv.weight")));
  EXPECT_TRUE(at::equal(ours.at("a.update"), theirs.at("a.gates").narrow(1, 3, 3)));
  EXPECT_EQ(ours.at("patch").sizes(), (std::vector<int64_t>{5, 12}));
  EXPECT_EQ(ours.at("x.state").sizes(), (std::vector<int64_t>{4, 2, 3}));
  const NameMap::Result back = map.inverted().apply(ours);
  EXPECT_TRUE(back.unmatched.empty());
  expect_equal(back.tensors, theirs);
}

TEST(NameMap, ReportsWhatDoesNotFit) {
  const auto refusal = [](NameRule rule, const TensorMap& tensors) {
    return test::thrown_message<Error>([&] { NameMap({std::move(rule)}).apply(tensors); });
  };
  const Join join{{"q", "kv"}, "qkv", {1, 2}};
  EXPECT_EQ(refusal(join, {{"q", numbers({2})}}),
            "name map: 'qkv' cannot be joined, because one of its parts is missing: 'kv'");
  EXPECT_EQ(refusal(join, {{"q", numbers({2})}, {"kv", numbers({5})}}),
            "name map: 'kv' of shape [5] cannot join 'q' of shape [2] in 'qkv'");
  EXPECT_EQ(refusal(join, {{"q", numbers({2})}, {"kv", numbers({4, 1})}}),
            "name map: 'kv' of shape [4, 1] cannot join 'q' of shape [2] in 'qkv'");
  EXPECT_EQ(refusal(Split{"a", {"b", "c"}, {1, 2}}, {{"a", numbers({4})}}),
            "name map: 'a' of shape [4] cannot be split into 3 equal parts along dimension 0");
  EXPECT_EQ(refusal(Reshape{"a", "b", {2, -1}, {-1}}, {{"a", numbers({3})}}),
            "name map: 'a' of shape [3] does not fit [2, -1]");
  EXPECT_EQ(refusal(Permute{"a", "b", {1, 0}}, {{"a", numbers({3})}}),
            "name map: 'a' of shape [3] must have 2 dimensions");
  EXPECT_EQ(refusal(Rename{"a", "b"}, {{"a", numbers({3})}, {"b", numbers({3})}}),
            "name map: 'a' and 'b' both become 'b'");
}

TEST(NameMap, RefusesRulesThatContradictThemselves) {
  const auto refusal = [](NameRule rule) {
    return test::thrown_message<std::invalid_argument>([&] { NameMap({std::move(rule)}); });
  };
  EXPECT_EQ(refusal(Rename{"a.*", "b"}), "name map: rule for 'a.*': 'b' must have the same wildcards");
  EXPECT_EQ(refusal(Rename{"a.*", "b.#"}), "name map: rule for 'a.*': 'b.#' must have the same wildcards");
  EXPECT_EQ(refusal(Rename{"a.*", "b.*", 1}),
            "name map: rule for 'a.*': the rule adds to a number, but the name has no wildcard #");
  EXPECT_EQ(refusal(Join{{"a", "b"}, "c", {1}}),
            "name map: rule for 'c': the number of parts must be the number of names");
  EXPECT_EQ(refusal(Split{"c", {"a", "b"}, {1, 0}}), "name map: rule for 'c': parts must be at least 1");
  EXPECT_EQ(refusal(Permute{"a", "b", {0, 2}}),
            "name map: rule for 'a': order must be a permutation of the dimensions");
}

TEST(NameMap, ShiftsNumbersBothWays) {
  const NameMap map = published_pvt();
  const TensorMap theirs = {{"patch_embed1.proj.weight", numbers({1})},
                            {"patch_embed2.proj.weight", numbers({2})},
                            {"block1.0.attn.q.weight", numbers({3})},
                            {"block4.1.mlp.dwconv.dwconv.bias", numbers({4})},
                            {"norm4.weight", numbers({5})},
                            {"head.weight", numbers({6})}};
  const TensorMap ours = map.apply(theirs).tensors;
  EXPECT_EQ(names_of(ours),
            (std::vector<std::string>{"head.weight", "patch_embed.proj.weight", "stages.0.blocks.0.attn.q.weight",
                                      "stages.1.downsample.proj.weight", "stages.3.blocks.1.mlp.dwconv.bias",
                                      "stages.3.norm.weight"}));
  expect_equal(map.inverted().apply(ours).tensors, theirs);
}

TEST(NameMap, MovesSwinsDownsampleToTheNextStage) {
  const TensorMap theirs = {{"layers.0.downsample.norm.weight", numbers({1})},
                            {"layers.0.blocks.1.attn.relative_position_index", numbers({2})},
                            {"layers.0.blocks.1.attn_mask", numbers({2})},
                            {"layers.0.blocks.1.attn.qkv.bias", numbers({3})},
                            {"head.weight", numbers({4})}};
  EXPECT_EQ(names_of(published_swin().apply(theirs).tensors),
            (std::vector<std::string>{"head.fc.weight", "layers.0.blocks.1.attn.qkv.bias",
                                      "layers.1.downsample.norm.weight"}));
}

}  // namespace
}  // namespace cachet::io
