#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/nn/module.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace cachet::test {

/// Parameters and buffers by name, as values.
inline std::map<std::string, at::Tensor> values_of(const torch::nn::Module& module) {
  std::map<std::string, at::Tensor> values;
  for (const auto& item : module.named_parameters()) values[item.key()] = item.value().detach().clone();
  for (const auto& item : module.named_buffers()) values[item.key()] = item.value().detach().clone();
  return values;
}

inline void expect_values(const torch::nn::Module& module, const std::map<std::string, at::Tensor>& expected) {
  const auto actual = values_of(module);
  EXPECT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected)
    EXPECT_TRUE(actual.contains(name) && at::equal(actual.at(name), tensor)) << name;
}

/// How many hold each part and each tensor of a tree.
inline std::vector<int64_t> holders(const torch::nn::Module& root) {
  std::vector<int64_t> counts;
  for (const auto& child : root.children()) {
    counts.push_back(child.use_count());
    for (const int64_t count : holders(*child)) counts.push_back(count);
  }
  for (const auto& tensor : root.parameters(/*recurse=*/false)) counts.push_back(tensor.use_count());
  for (const auto& tensor : root.buffers(/*recurse=*/false)) counts.push_back(tensor.use_count());
  return counts;
}

inline void expect_same_form(const torch::nn::Module& copy, const torch::nn::Module& original) {
  const auto compare = [](const auto& actual, const auto& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const at::Tensor &a = actual[i].value(), &e = expected[i].value();
      EXPECT_EQ(actual[i].key(), expected[i].key());
      EXPECT_FALSE(a.is_alias_of(e)) << expected[i].key();
      EXPECT_EQ(a.dtype(), e.dtype()) << expected[i].key();
      EXPECT_EQ(a.device(), e.device()) << expected[i].key();
      EXPECT_EQ(a.requires_grad(), e.requires_grad()) << expected[i].key();
      EXPECT_TRUE(a.is_leaf() && at::equal(a, e)) << expected[i].key();
    }
  };
  compare(copy.named_parameters(), original.named_parameters());
  compare(copy.named_buffers(), original.named_buffers());
  const auto actual = copy.named_modules("", false), expected = original.named_modules("", false);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].key(), expected[i].key());
    EXPECT_EQ(actual[i].value()->name(), expected[i].value()->name());
    EXPECT_EQ(actual[i].value()->is_training(), expected[i].value()->is_training()) << expected[i].key();
    EXPECT_NE(actual[i].value(), expected[i].value()) << expected[i].key();
  }
  EXPECT_EQ(copy.name(), original.name());
  EXPECT_EQ(copy.is_training(), original.is_training());
}

/// A clone is a copy on its own: of the same form and values, with the same outputs bit for bit and the same state
/// after them in training and evaluation; a training step of it leaves the original as it was. `forward` gives one
/// tensor.
template <class Module>
void expect_clones(const std::shared_ptr<Module>& original, const std::function<at::Tensor(Module&)>& forward) {
  const auto random = at::detail::getDefaultCPUGenerator();
  const at::Tensor random_before = random.get_state();
  const auto held = holders(*original);
  const auto copy = std::dynamic_pointer_cast<Module>(original->clone());
  ASSERT_NE(copy, nullptr);
  EXPECT_EQ(holders(*original), held) << "the copy holds something of the original";
  EXPECT_TRUE(at::equal(random.get_state(), random_before)) << "random numbers were drawn";
  expect_same_form(*copy, *original);

  const bool was_training = original->is_training();
  for (const bool training : {true, false}) {
    if (training && !was_training) continue;  // what is for evaluation alone
    const at::NoGradGuard no_grad;
    original->train(training);
    copy->train(training);
    at::manual_seed(5);
    const at::Tensor expected = forward(*original);
    at::manual_seed(5);
    EXPECT_TRUE(at::equal(forward(*copy), expected)) << "training: " << training;
    expect_values(*copy, values_of(*original));
  }

  const auto before = values_of(*original);
  copy->train(was_training);
  const at::Tensor result = forward(*copy);
  if (result.requires_grad()) result.square().sum().backward();
  const at::NoGradGuard no_grad;
  for (at::Tensor& parameter : copy->parameters()) {
    if (parameter.grad().defined()) parameter.sub_(parameter.grad());
    parameter.add_(1);
  }
  for (const at::Tensor& parameter : original->parameters()) EXPECT_FALSE(parameter.grad().defined());
  expect_values(*original, before);
}

}  // namespace cachet::test
