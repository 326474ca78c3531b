#include "cachet/io/tensors/state_dict.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include "cachet/io/error.h"
#include "cachet/io/tensors/exact_conversion.h"
#include "tests/support/thrown_message.h"

namespace cachet::io {
namespace {

struct Inner : torch::nn::Module {
  Inner() {
    weight = register_parameter("weight", at::zeros({2, 3}));
    steps = register_buffer("steps", at::zeros({}, at::kLong));
  }
  at::Tensor weight, steps;
};

struct Outer : torch::nn::Module {
  Outer() {
    inner = register_module("inner", std::make_shared<Inner>());
    scale = register_parameter("scale", at::zeros({3}));
    absent = register_parameter("absent", at::Tensor(), false);
  }
  std::shared_ptr<Inner> inner;
  at::Tensor scale, absent;
};

TensorMap good_state() {
  return {{"inner.weight", at::ones({2, 3})}, {"inner.steps", at::ones({}, at::kLong)}, {"scale", at::ones({3})}};
}

std::string refusal(const TensorMap& tensors, const LoadPolicy& policy = {}) {
  Outer module;
  const std::string message = test::thrown_message<Error>([&] { load_state_dict(module, tensors, policy); });
  for (const auto& [name, tensor] : state_dict(module)) EXPECT_EQ(tensor.sum().item<double>(), 0) << name << " changed";
  return message;
}

TEST(StateDict, NamesParametersAndBuffersAndSharesTheirMemory) {
  Outer module;
  TensorMap state = state_dict(module);
  ASSERT_EQ(state.size(), 3u);
  EXPECT_FALSE(state.at("scale").requires_grad());
  state.at("inner.weight").fill_(2);
  EXPECT_TRUE(at::equal(module.inner->weight, at::full({2, 3}, 2)));
}

TEST(StateDict, LoadsInPlace) {
  Outer module;
  const void* memory = module.scale.data_ptr();
  const LoadReport report = load_state_dict(module, good_state());
  EXPECT_EQ(report.loaded, (std::vector<std::string>{"inner.steps", "inner.weight", "scale"}));
  EXPECT_TRUE(report.missing.empty() && report.unexpected.empty() && report.converted.empty());
  EXPECT_EQ(module.inner->steps.item<int64_t>(), 1);
  EXPECT_EQ(module.scale.data_ptr(), memory);
  EXPECT_TRUE(module.scale.requires_grad() && module.scale.is_leaf());
}

TEST(StateDict, ListsAllThatIsWrongAtOnce) {
  const std::string message = refusal({{"inner.wieght", at::ones({2, 3})},
                                       {"zebra", at::ones({1})},
                                       {"inner.steps", at::ones({}, at::kDouble)},
                                       {"scale", at::ones({4})}});
  EXPECT_EQ(message,
            "the tensors do not fit the model:\n"
            "  missing: inner.weight (did you mean 'inner.wieght'?)\n"
            "  unexpected: inner.wieght (did you mean 'inner.weight'?)\n"
            "  unexpected: zebra\n"
            "  wrong type: inner.steps would be converted Double -> Long, which can change values\n"
            "  wrong shape: scale is [4] in the file, but [3] in the model");
}

TEST(StateDict, ListsThreeOfAKindAndCountsTheRest) {
  TensorMap tensors = good_state();
  for (int i = 0; i < 90; ++i) tensors["more" + std::to_string(10 + i)] = at::ones({1});
  tensors["scale"] = at::ones({4});
  EXPECT_EQ(refusal(tensors),
            "the tensors do not fit the model:\n"
            "  unexpected: more10\n"
            "  unexpected: more11\n"
            "  unexpected: more12\n"
            "  wrong shape: scale is [4] in the file, but [3] in the model\n"
            "  unexpected: and 87 more");
}

TEST(StateDict, LeavesOutWhatThePolicyAllows) {
  Outer module;
  const TensorMap partial = {{"scale", at::ones({3})}, {"extra", at::ones({1})}};
  EXPECT_THROW(load_state_dict(module, partial, {.allow_missing = true}), Error);
  EXPECT_THROW(load_state_dict(module, partial, {.allow_unexpected = true}), Error);
  const LoadReport report = load_state_dict(module, partial, {.allow_missing = true, .allow_unexpected = true});
  EXPECT_EQ(report.missing, (std::vector<std::string>{"inner.steps", "inner.weight"}));
  EXPECT_EQ(report.unexpected, std::vector<std::string>{"extra"});
  EXPECT_EQ(module.scale.sum().item<double>(), 3);
}

TEST(StateDict, ConvertsAsFarAsThePolicyAllows) {
  using Conversion = LoadPolicy::Conversion;
  TensorMap half = good_state(), wide = good_state();
  half["scale"] = half["scale"].to(at::kHalf);
  wide["scale"] = wide["scale"].to(at::kDouble);
  Outer module;
  EXPECT_EQ(load_state_dict(module, half).converted, std::vector<std::string>{"scale: Half -> Float"});
  EXPECT_NE(refusal(half, {.conversion = Conversion::kNone}).find("scale would be converted Half -> Float"),
            std::string::npos);
  EXPECT_NE(refusal(wide).find("scale would be converted Double -> Float"), std::string::npos);
  EXPECT_EQ(load_state_dict(module, wide, {.conversion = Conversion::kAny}).converted,
            std::vector<std::string>{"scale: Double -> Float"});
}

/// Two modules with one weight between them, and a buffer under two names.
struct Tied : torch::nn::Module {
  Tied() {
    weight = register_parameter("embedding", at::zeros({2, 3}));
    inner = register_module("inner", std::make_shared<Inner>());
    inner->register_parameter("head", weight);
    steps = inner->steps;
    register_buffer("steps", steps);
  }
  std::shared_ptr<Inner> inner;
  at::Tensor weight, steps;
};

TEST(StateDict, HoldsATensorThatModulesShareOnce) {
  const Tied module;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : state_dict(module)) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"embedding", "inner.weight", "steps"}));
  const std::vector<NamedTensor> parameters = distinct_parameters(module);
  ASSERT_EQ(parameters.size(), 2U);
  EXPECT_EQ(parameters[0].names, (std::vector<std::string>{"embedding", "inner.head"}));
  EXPECT_EQ(distinct_buffers(module).at(0).names, (std::vector<std::string>{"steps", "inner.steps"}));
}

TEST(StateDict, LoadsATensorThatModulesShareByAnyOfItsNames) {
  const TensorMap rest{{"inner.weight", at::ones({2, 3})}};
  for (const std::vector<std::string>& names :
       std::vector<std::vector<std::string>>{{"embedding", "steps"},
                                             {"inner.head", "inner.steps"},
                                             {"embedding", "inner.head", "steps", "inner.steps"}}) {
    TensorMap tensors = rest;
    for (const std::string& name : names)
      tensors[name] = name.ends_with("steps") ? at::ones({}, at::kLong) : at::ones({2, 3});
    Tied module;
    const LoadReport report = load_state_dict(module, tensors);
    EXPECT_EQ(report.loaded.size(), 3U);
    EXPECT_TRUE(report.missing.empty() && report.unexpected.empty());
    EXPECT_EQ(module.weight.sum().item<double>(), 6);
    EXPECT_EQ(module.steps.item<int64_t>(), 1);
  }
  Tied module;
  TensorMap two = rest;
  two["steps"] = at::ones({}, at::kLong);
  two["embedding"] = at::ones({2, 3});
  two["inner.head"] = at::zeros({2, 3});
  const std::string message = test::thrown_message<Error>([&] { load_state_dict(module, two); });
  EXPECT_NE(message.find("different: embedding and inner.head are the same tensor"), std::string::npos) << message;
  EXPECT_EQ(module.weight.sum().item<double>(), 0);
  const std::string missing = test::thrown_message<Error>([&] { load_state_dict(module, rest); });
  EXPECT_NE(missing.find("missing: embedding"), std::string::npos) << missing;
  EXPECT_EQ(missing.find("inner.head"), std::string::npos) << missing;
}

TEST(ExactConversion, TakesOnlyTypesThatHoldEveryValue) {
  const at::ScalarType all[] = {at::kBool, at::kByte, at::kChar,     at::kShort, at::kInt,
                                at::kLong, at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  // Rows from, columns to, in the order of `all`.
  const char* const expected[] = {"1111111111", "0101111111", "0011111111", "0001110011", "0000110001",
                                  "0000010000", "0000001011", "0000000111", "0000000011", "0000000001"};
  for (size_t from = 0; from < std::size(all); ++from) {
    for (size_t to = 0; to < std::size(all); ++to) {
      EXPECT_EQ(converts_exactly(all[from], all[to]), expected[from][to] == '1') << all[from] << " -> " << all[to];
    }
  }
  EXPECT_TRUE(converts_exactly(at::kFloat8_e4m3fn, at::kHalf));
  EXPECT_FALSE(converts_exactly(at::kHalf, at::kFloat8_e5m2));
  EXPECT_FALSE(converts_exactly(at::kComplexFloat, at::kDouble));
}

}  // namespace
}  // namespace cachet::io
