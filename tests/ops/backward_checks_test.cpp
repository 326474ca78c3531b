// Backward operators check their operands as the forward ones do: called alone, for example from Python, with a tensor
// of another shape they refuse it and read no memory that is not theirs.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cachet/ops/norm/unified_norm.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using c10::IValue;
using Arguments = std::vector<IValue>;

std::vector<IValue> call(const std::string& name, Arguments arguments) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(("cachet::" + name).c_str(), "");
  const at::NoGradGuard no_grad;
  op.callBoxed(&arguments);
  return arguments;
}

struct Sample {
  std::string op;
  Arguments arguments;
  std::set<size_t> free = {};  // tensors whose last dimension may be another
};

at::Tensor longs(std::vector<int64_t> values, at::IntArrayRef sizes) {
  return at::tensor(values, at::kLong).view(sizes);
}

std::vector<Sample> samples() {
  const IValue none;
  const auto r = [](at::IntArrayRef sizes) { return at::randn(sizes); };
  std::vector<Sample> all{
      {"linear_backward", {r({2, 3, 5}), r({2, 3, 4}), r({5, 4})}},
      {"linear_gelu_backward", {r({2, 3, 5}), r({2, 3, 4}), r({5, 4}), r({5}), r({2, 3, 5})}},
      {"linear_cross_entropy_backward", {r({3}), r({3, 4}), r({5, 4}), r({3, 5})}},
      {"mix_heads_backward", {r({2, 3, 2, 4}), r({2, 3, 2, 4}), r({2, 3, 2, 2}), r({2})}, {2}},
      // Gradients of any number of bins are gradients.
      {"roi_align_backward",
       {r({2, 3, 4, 5}), at::tensor(std::vector<double>{0, 1, 1, 5, 5, 1, 0, 0, 3, 3}).view({2, 5}),
        c10::List<int64_t>({2, 3, 6, 7}), 1.0, 0},
       {0}},
      {"token_convolution_backward", {r({2, 7, 4}), r({2, 7, 4}), r({4, 2, 3, 3}), 2, 3, 1}},
      {"attention_weights_backward", {r({4, 2, 3, 3}), r({4, 2, 3, 3}), 2, 0.5}},
      {"relative_attention_weights_backward", {r({4, 2, 3, 3}), r({4, 2, 3, 3}), 0.5}},
      {"scale_shift_backward", {r({2, 3, 4}), r({2, 3, 4}), r({4})}},
      {"power_norm_backward",
       {r({2, 3, 4}), r({2, 3, 4}), r({4}), none, r({2, 4}).abs(), r({2, 4}).abs(), 0.9, 1e-5, std::string()}},
      {"unified_norm_backward",
       {r({2, 3, 4}), r({2, 3, 4}), r({4}), none, r({2, 4}).abs(), longs({1, 0, 0}, {3}), r({2 + 2 + 2, 4}).abs(),
        c10::List<int64_t>({2, 2}), 0.9, 1e-5, false, std::string()}},
      {"grc_update_backward",
       {r({2, 3, 4}), r({1, 3, 4}), r({1, 3, 4}), r({2, 3, 4}), r({4, 8}), r({4, 8}), r({4, 8}), r({4}), r({4}), r({4}),
        1e-5, r({2, 3, 12}), r({1, 3, 8}), r({2, 3, 4})}},
      {"block_attention_backward",
       {r({1, 2, 4, 3}), r({1, 2, 4}), r({1, 2, 4, 3}), r({1, 2, 4, 3}), r({1, 2, 4, 3}),
        longs({0, 1, 0, 1}, {1, 2, 2}), 2, 0.5, none, none, -100, 100, false, r({1, 2, 4, 3}), r({1, 2, 4})},
       {5}}};
  const c10::List<int64_t> softplus({1});
  const Arguments attended{r({1, 2, 4, 3}),
                           r({1, 2, 4, 3}),
                           r({1, 2, 4, 3}),
                           std::vector<at::Tensor>{r({2, 3, 3})},
                           softplus,
                           none,
                           true,
                           0.0,
                           0.0};
  const auto forward = call("kernel_attention_fused", attended);
  Arguments backward{r({1, 2, 4, 3})};
  backward.insert(backward.end(), attended.begin(), attended.end());
  backward.insert(backward.end(), forward.begin(), forward.end());
  all.push_back({"kernel_attention_fused_backward", backward});
  return all;
}

Arguments on(const at::Device& device, const Arguments& arguments) {
  Arguments moved;
  for (const IValue& argument : arguments)
    moved.push_back(argument.isTensor() ? IValue(argument.toTensor().to(device)) : argument);
  return moved;
}

/// A list of tensors stays where it is.
bool runs_on(const at::Device& device, const Sample& sample) {
  return !device.is_meta() || sample.op != "kernel_attention_fused_backward";
}

const at::Device kDevices[] = {at::Device(at::kCPU), at::Device(at::kMeta)};

/// The tensors that a call gave, in order; undefined ones too.
std::vector<at::Tensor> tensors_of(const std::vector<IValue>& results) {
  std::vector<at::Tensor> tensors;
  for (const IValue& result : results) {
    if (result.isTensor()) tensors.push_back(result.toTensor());
    if (result.isTensorList())
      for (const at::Tensor& tensor : result.toTensorVector()) tensors.push_back(tensor);
  }
  return tensors;
}

TEST(BackwardOperators, GiveFiniteGradientsWhoseShapesMetaPredicts) {
  for (const Sample& sample : samples()) {
    const std::vector<at::Tensor> given = tensors_of(call(sample.op, sample.arguments));
    ASSERT_FALSE(given.empty()) << sample.op;
    for (const at::Tensor& gradient : given)
      if (gradient.defined()) {
        EXPECT_TRUE(at::isfinite(gradient).all().item<bool>()) << sample.op;
      }
    const at::Device meta(at::kMeta);
    if (!runs_on(meta, sample)) continue;
    const std::vector<at::Tensor> predicted = tensors_of(call(sample.op, on(meta, sample.arguments)));
    ASSERT_EQ(predicted.size(), given.size()) << sample.op;
    for (size_t i = 0; i < given.size(); ++i) {
      ASSERT_EQ(predicted[i].defined(), given[i].defined()) << sample.op << ", result " << i;
      if (!given[i].defined()) continue;
      EXPECT_EQ(predicted[i].sizes(), given[i].sizes()) << sample.op << ", result " << i;
      EXPECT_EQ(predicted[i].scalar_type(), given[i].scalar_type()) << sample.op << ", result " << i;
    }
  }
}

/// The message of a call that must be refused; empty if it is not.
std::string refusal(const std::string& op, const Arguments& arguments) {
  try {
    call(op, arguments);
    return "";
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
}

TEST(BackwardOperators, RefuseATensorOfAnotherShape) {
  for (const at::Device& device : kDevices)
    for (const Sample& sample : samples()) {
      if (!runs_on(device, sample)) continue;
      const std::string name = sample.op.substr(0, std::min(sample.op.find("_fused"), sample.op.find("_backward")));
      for (size_t i = 0; i < sample.arguments.size(); ++i) {
        if (!sample.arguments[i].isTensor() || sample.free.count(i)) continue;
        Arguments changed = on(device, sample.arguments);
        changed[i] = at::constant_pad_nd(changed[i].toTensor(), {0, 1});
        // By its own check, not by whatever it would have run into.
        EXPECT_EQ(refusal(sample.op, changed).rfind(name, 0), 0)
            << sample.op << ", argument " << i << " on " << device << ": " << refusal(sample.op, changed);
      }
    }
}

TEST(BackwardOperators, RefuseAGridThatTheTokensAreNot) {
  const at::Tensor x = at::randn({2, 7, 4}), weight = at::randn({4, 2, 3, 3});
  test::expect_refused(
      [&] {
        call("token_convolution_backward", {x, x, weight, 200, 300, 1});
      },
      "1 class tokens + a grid of 200 x 300 tokens must equal the number of tokens, which is 7");
}

TEST(BackwardOperators, AllHaveSamplesHere) {
  std::set<std::string> sampled;
  for (const Sample& sample : samples()) sampled.insert("cachet::" + sample.op);
  for (const auto& name : c10::Dispatcher::singleton().getAllOpNames()) {
    const bool ours = name.name.rfind("cachet::", 0) == 0 && name.name.find("_backward") != std::string::npos;
    EXPECT_TRUE(!ours || sampled.count(name.name)) << name.name;
  }
}

}  // namespace
}  // namespace cachet
