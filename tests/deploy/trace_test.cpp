#include "cachet/deploy/trace.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>
#include <map>

#include "cachet/deploy/free_sizes.h"
#include "cachet/ops/cache/mix_heads.h"
#include "tests/support/refused.h"

namespace cachet::deploy {
namespace {

const std::vector<FreeSize> kSizes{{"the batch", 0, 0}, {"the length", 0, 1, 3, 8, 11}};

TEST(SizeForm, IsFoundWhereANumberIsAProductOfLines) {
  const SizeSamples samples(kSizes);
  EXPECT_EQ(samples.all(), (std::vector<std::vector<int64_t>>{{2, 3}, {5, 3}, {2, 8}, {7, 11}}));
  const auto values_of = [&](const std::function<int64_t(int64_t, int64_t)>& number) {
    std::vector<int64_t> values;
    for (const auto& sizes : samples.all()) values.push_back(number(sizes[0], sizes[1]));
    return values;
  };
  using Number = std::function<int64_t(int64_t, int64_t)>;
  const std::vector<Number> forms{[](int64_t, int64_t) { return -4; },
                                  [](int64_t b, int64_t) { return 6 * b; },
                                  [](int64_t, int64_t l) { return l + 1; },
                                  [](int64_t b, int64_t l) { return 12 * b * (2 * l + 1); },
                                  [](int64_t b, int64_t l) { return (b - 1) * (7 - l); },
                                  [](int64_t b, int64_t l) { return -2 * b * l; }};
  for (const Number& number : forms) {
    const auto form = SizeForm::of(values_of(number), samples);
    ASSERT_TRUE(form);
    for (const int64_t b : {1, 4, 9})
      for (const int64_t l : {1, 6, 20}) EXPECT_EQ(form->at({b, l}), number(b, l));
  }
  const std::vector<Number> others{[](int64_t b, int64_t) { return b * b; }, [](int64_t b, int64_t l) { return b + l; },
                                   [](int64_t, int64_t l) { return (l + 3) / 4; },
                                   [](int64_t b, int64_t) { return std::min<int64_t>(b, 4); }};
  for (const Number& number : others) EXPECT_FALSE(SizeForm::of(values_of(number), samples));
}

std::vector<at::Tensor> inputs_of(const std::vector<int64_t>& sizes) { return {at::randn({sizes[0], sizes[1], 4, 2})}; }

TEST(Trace, HoldsForAllSizes) {
  const at::Tensor weight = at::randn({4, 2}), share = at::randn({4});
  const Traceable model = [&](const std::vector<at::Tensor>& inputs) {
    const at::Tensor &x = inputs[0], mixed = ops::mix_heads(x, x * weight, share);
    return mixed.reshape({x.size(0) * x.size(1), 8}).view({x.size(0), x.size(1) * 8}).narrow(1, 0, x.size(1) * 8 - 1);
  };
  const auto graph = trace(model, {"x"}, kSizes, inputs_of);
  for (const torch::jit::Node* node : graph->nodes())
    EXPECT_EQ(std::string(node->kind().toQualString()).find("cachet::"), std::string::npos);
  torch::jit::GraphFunction function("traced", graph, nullptr);
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{1, 1}, {4, 9}}) {
    const std::vector<at::Tensor> inputs = inputs_of(sizes);
    EXPECT_TRUE(at::allclose(function({inputs[0]}).toTensor(), model(inputs), 1e-6, 1e-6));
  }
}

TEST(Trace, SaysWhatDependsOnASize) {
  const auto refused = [](const Traceable& model, const char* why) {
    test::expect_refused([&] { trace(model, {"x"}, kSizes, inputs_of); }, why);
  };
  refused([](const auto& inputs) { return inputs[0].size(0) > 3 ? inputs[0].sin() : inputs[0].cos(); },
          "depends on the batch");
  refused([](const auto& inputs) { return inputs[0].size(1) > 9 ? inputs[0].sin() : inputs[0].cos(); },
          "depends on the batch or the length");
  std::map<int64_t, at::Tensor> tables;
  for (const int64_t length : {3, 8, 11}) tables[length] = at::full({1}, static_cast<double>(length));
  refused([&](const auto& inputs) { return inputs[0] + tables.at(inputs[0].size(1)); },
          "a constant of the graph depends on the length");
  refused([](const auto& inputs) { return inputs[0].flatten(2).narrow(2, 0, (inputs[0].size(1) + 3) / 4); },
          "a number of the graph depends on the length");
}

}  // namespace
}  // namespace cachet::deploy
