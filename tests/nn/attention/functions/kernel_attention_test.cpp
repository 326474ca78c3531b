#include "cachet/nn/attention/functions/kernel_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "cachet/nn/attention/multi_head_attention.h"
#include "tests/support/autocast.h"
#include "tests/support/decoding_check.h"
#include "tests/support/gradient_check.h"
#include "tests/support/refused.h"

namespace cachet {
namespace {

using Form = nn::KernelForm;

const std::vector<std::pair<std::string, nn::AttentionFunctionOptions>>& all_kernels() {
  static const std::vector<std::pair<std::string, nn::AttentionFunctionOptions>> kernels{
      {"elu", nn::EluOptions{}},
      {"linear", nn::KernelOptions{Form::linear}},
      {"orthogonal_linear", nn::KernelOptions{Form::orthogonal_linear}},
      {"glu 3", nn::KernelOptions{Form::glu, 3}},
      {"oglu 2", nn::KernelOptions{Form::orthogonal_glu, 2}},
      {"aoglu 3", nn::KernelOptions{Form::low_rank_glu, 3}},
      {"shared glu", nn::KernelOptions{Form::glu, 1, 0, false}},
      {"sigmoid stack", nn::KernelOptions{Form::feed_forward, 2, 0, true, 0, 0, nn::KernelActivation::sigmoid}},
      {"normed gelu stack", nn::KernelOptions{Form::feed_forward, 3, 0, true, 0, 0, nn::KernelActivation::gelu,
                                              nn::KernelBetween::layer_norm}},
  };
  return kernels;
}

std::shared_ptr<nn::KernelAttention> make_kernel(const nn::AttentionFunctionOptions& options, int64_t heads = 2,
                                                 int64_t dim = 4) {
  auto kernel = std::dynamic_pointer_cast<nn::KernelAttention>(nn::make_attention_function(options, heads, dim));
  kernel->to(at::kDouble);
  return kernel;
}

// The definition: all L² products of features, and what each query may see.
at::Tensor dense_attention(const nn::KernelAttention& kernel, const at::Tensor& q, const at::Tensor& k,
                           const at::Tensor& v, const nn::AttentionArgs& args, double eps) {
  const int64_t lq = q.size(2), lk = k.size(2);
  at::Tensor products = at::matmul(kernel.features(q), kernel.features(k).transpose(2, 3));
  if (args.causal) products = products.tril(lk - lq);
  if (args.context.padding.defined()) products = products.masked_fill(args.context.padding.view({-1, 1, 1, lk}), 0);
  const at::Tensor total = products.sum(-1, true);
  return at::where(total > 0, at::matmul(products, v) / (total + eps), at::zeros({}, v.options()));
}

TEST(KernelAttention, EqualsTheDenseFormForEveryKernelAndLayout) {
  const auto d = at::kDouble;
  for (const auto& [name, options] : all_kernels()) {
    const auto kernel = make_kernel(options);
    // Lengths around the chunks of the causal form too.
    for (const auto& [lq, lk] : {std::pair{5, 5}, {3, 7}, {1, 6}, {6, 2}, {64, 64}, {65, 130}, {130, 129}})
      for (const bool causal : {false, true})
        for (const bool padded : {false, true}) {
          const at::Tensor q = at::randn({2, 2, lq, 4}, d), k = at::randn({2, 2, lk, 4}, d),
                           v = at::randn({2, 2, lk, 3}, d);
          nn::AttentionArgs args;
          args.causal = causal;
          if (padded) {
            args.context.padding = at::zeros({2, lk}, at::kBool);
            args.context.padding[0][lk - 1].fill_(true);
            args.context.padding[1].fill_(true);  // a sample without any key
          }
          const double eps = name == "elu" ? 1e-6 : 0;
          EXPECT_TRUE(
              at::allclose(kernel->forward(q, k, v, args), dense_attention(*kernel, q, k, v, args, eps), 1e-9, 1e-10))
              << name << ' ' << lq << 'x' << lk << " causal " << causal << " padded " << padded;
        }
  }
}

TEST(KernelAttention, GradientsEqualFiniteDifferences) {
  const at::Tensor padding = at::tensor({0, 0, 0, 0, 0, 0, 1, 0, 0, 1}).view({2, 5}).to(at::kBool);
  for (const auto& [name, options] : all_kernels())
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(name + (causal ? " causal" : ""));
      const auto kernel = make_kernel(options);
      nn::AttentionArgs args;
      args.causal = causal;
      if (!causal) args.context.padding = padding;
      test::expect_gradients([&](const auto& in) { return kernel->forward(in[0], in[1], in[2], args).pow(2).sum(); },
                             {at::randn({2, 2, 4, 4}), at::randn({2, 2, 5, 4}), at::randn({2, 2, 5, 3})});
    }
}

TEST(KernelAttention, PaddedNoiseNeverMattersNotEvenNaN) {
  const at::Tensor padding = at::tensor({0, 0, 1, 0, 1, 1}).view({2, 3}).to(at::kBool);
  for (const auto& [name, options] : all_kernels()) {
    const auto kernel = make_kernel(options);
    nn::AttentionArgs args;
    args.context.padding = padding;
    const at::Tensor mask = padding.view({2, 1, 3, 1});
    const at::Tensor q = at::randn({2, 2, 3, 4}, at::kDouble), k = at::randn({2, 2, 3, 4}, at::kDouble);
    at::Tensor results[2];
    for (const bool noisy : {false, true}) {
      const at::Tensor keys = k.masked_fill(mask, noisy ? std::numeric_limits<double>::quiet_NaN() : 0.0);
      results[noisy] = kernel->forward(q, keys, keys, args);
    }
    EXPECT_TRUE(at::equal(results[0], results[1])) << name;
  }
}

TEST(KernelAttention, DecodingKeepsSumsAndEqualsTheCausalWhole) {
  for (const auto& [name, options] : all_kernels()) {
    nn::AttentionOptions attention_options;
    attention_options.function = options;
    nn::MultiHeadAttention attention({8, 2, attention_options});
    SCOPED_TRACE(name);
    const auto state = test::expect_decoding_equals_whole(attention, 3);
    const auto tensors = state->named_tensors();
    ASSERT_EQ(tensors.size(), 2u) << name << " keeps the sums and the number of lanes";
    EXPECT_EQ(tensors.at("sums").sizes(), at::IntArrayRef({3, 2, 4, 5})) << "does not grow with the length";
  }
}

TEST(KernelAttention, OneContextServesAllSamples) {
  const auto kernel = make_kernel(nn::KernelOptions{});
  const at::Tensor q = at::randn({3, 2, 5, 4}, at::kDouble), k = at::randn({1, 2, 6, 4}, at::kDouble);
  EXPECT_TRUE(at::allclose(kernel->forward(q, k, k, {}),
                           kernel->forward(q, k.expand({3, -1, -1, -1}), k.expand({3, -1, -1, -1}), {})));
}

TEST(KernelAttention, OrthogonalWeightsStartSoAndArePulledBack) {
  for (const Form form : {Form::orthogonal_linear, Form::orthogonal_glu, Form::low_rank_glu}) {
    nn::KernelOptions options{form};
    options.penalty = 0.5;
    const auto kernel = make_kernel(options, 3, 8);
    EXPECT_NEAR(kernel->penalty().item<double>(), 0, 1e-10);
    at::Tensor weight = kernel->named_parameters()["features.0.weight"];
    {
      at::NoGradGuard no_grad;
      weight.mul_(2);  // WWᵀ − I = 3I, in each of 3 heads: 9·8
    }
    const at::Tensor penalty = nn::total_penalty(*kernel);
    EXPECT_NEAR(penalty.item<double>(), 0.5 * 3 * 72, 1e-4);  // the weights were rounded to float32
    penalty.backward();
    EXPECT_GT(weight.grad().abs().sum().item<double>(), 0);
  }
  EXPECT_FALSE(make_kernel(nn::KernelOptions{Form::glu})->penalty().defined());
}

TEST(KernelAttention, GateOfAOGLUHasAQuarterOfTheRank) {
  const auto kernel = make_kernel(nn::KernelOptions{Form::low_rank_glu, 1}, 2, 16);
  EXPECT_EQ(kernel->named_parameters()["features.0.gate_down"].sizes(), at::IntArrayRef({2, 16, 4}));
  EXPECT_EQ(kernel->named_parameters()["features.0.gate_up"].sizes(), at::IntArrayRef({2, 4, 16}));
}

TEST(KernelAttention, NamesWhatItRefuses) {
  nn::AttentionArgs args;
  args.bias = at::zeros({1, 1, 3, 3}, at::kDouble);
  const at::Tensor x = at::randn({1, 2, 3, 4}, at::kDouble);
  const auto kernel = make_kernel(nn::KernelOptions{});
  test::expect_refused([&] { kernel->forward(x, x, x, args); }, "cannot use an attention bias");
  test::expect_refused([] { make_kernel(nn::KernelOptions{Form::low_rank_glu, 1, 9}); }, "gate_rank must be from 0 to");
}

TEST(KernelAttention, ThePenaltyIsTakenInFloat32UnderAutocast) {
  nn::KernelOptions options{Form::orthogonal_glu};
  options.layers = 2;
  const auto kernel = std::make_shared<nn::KernelAttention>(options, 2, 16);
  const at::Tensor weight = kernel->named_parameters()["features.0.weight"];
  const auto under_autocast = [&] {
    const test::BFloat16Autocast autocast;
    return nn::total_penalty(*kernel);
  };
  const auto gradient_of = [&](const at::Tensor& penalty) {
    kernel->zero_grad();
    EXPECT_EQ(penalty.scalar_type(), at::kFloat);
    penalty.backward();
    return weight.grad().clone();
  };
  // Orthogonal weights have no penalty: what is left is roundings, and they are float32's.
  const at::Tensor plain = gradient_of(nn::total_penalty(*kernel));
  EXPECT_LT(plain.abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(at::equal(gradient_of(under_autocast()), plain));
}

}  // namespace
}  // namespace cachet
