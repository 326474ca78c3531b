#include "cachet/analysis/cost/operator_rules.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>

#include "cachet/analysis/cost/operator_calls.h"
#include "cachet/ops/attention/block_attention.h"
#include "cachet/ops/attention/kernel_attention.h"
#include "cachet/ops/cache/grc_update.h"
#include "cachet/ops/linear/linear.h"
#include "cachet/ops/linear/linear_cross_entropy.h"
#include "cachet/ops/support/operator_handle.h"
#include "cachet/ops/tokens/token_convolution.h"

namespace cachet::analysis {
namespace {

at::Tensor ones(at::IntArrayRef sizes) { return at::ones(sizes); }

struct Case {
  const char* name;
  int64_t macs;  // by hand: the products of one call
  std::function<void()> call;
};

std::vector<Case> cases() {
  const at::Tensor image = ones({1, 3, 6, 5}), filter = ones({4, 3, 2, 2});
  const auto blocks = at::tensor({0, 1, 0, 1}, at::kLong).reshape({1, 2, 2});
  return {
      {"aten::linear", 2 * 3 * 7 * 5,
       [] {
         at::linear(ones({2, 3, 5}), ones({7, 5}));
       }},
      {"cachet::linear", 2 * 3 * 7 * 5,
       [] {
         // The operator itself: on processors where LibTorch's product is as fast, ops::linear does not call it.
         ops::operator_handle<decltype(ops::linear)>("cachet::linear").call(ones({2, 3, 5}), ones({7, 5}), ones({7}));
       }},
      {"cachet::linear_gelu", 2 * 3 * 7 * 5,
       [] {
         ops::linear_gelu(ones({2, 3, 5}), ones({7, 5}), ones({7}));
       }},
      {"cachet::linear_cross_entropy", 4 * 9 * 5,
       [] {
         ops::linear_cross_entropy(ones({4, 5}), ones({9, 5}), {}, at::zeros({4}, at::kLong));
       }},
      // Each of 6 × 7 outputs of two samples: 2 channels of its group, 3 positions.
      {"aten::conv1d", 2 * 6 * 7 * 2 * 3,
       [] {
         at::conv1d(ones({2, 4, 9}), ones({6, 2, 3}), {}, at::IntArrayRef{1}, at::IntArrayRef{0}, at::IntArrayRef{1},
                    2);
       }},
      {"aten::conv2d", 4 * 5 * 4 * 3 * 2 * 2, [=] { at::conv2d(image, filter); }},
      {"aten::conv3d", 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2,
       [] {
         at::conv3d(ones({1, 2, 3, 3, 3}), ones({2, 2, 2, 2, 2}));
       }},
      {"aten::convolution", 4 * 5 * 4 * 3 * 2 * 2,
       [=] {
         at::convolution(image, filter, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1);
       }},
      // Each of 3 × 2 × 2 inputs: 4 channels, 2 × 2 positions.
      {"aten::convolution", 3 * 2 * 2 * 4 * 2 * 2,
       [] {
         at::convolution(ones({1, 3, 2, 2}), ones({3, 4, 2, 2}), {}, {2, 2}, {0, 0}, {1, 1}, true, {0, 0}, 1);
       }},
      {"aten::conv_transpose1d", 2 * 3 * 4 * 5 * 2,
       [] {
         at::conv_transpose1d(ones({2, 3, 4}), ones({3, 5, 2}));
       }},
      // Each of 4 × 3 × 3 inputs: 2 channels of its group, 2 × 2 positions.
      {"aten::conv_transpose2d", 4 * 3 * 3 * 2 * 2 * 2,
       [] {
         at::conv_transpose2d(ones({1, 4, 3, 3}), ones({4, 2, 2, 2}), {}, 2, 0, 0, 2);
       }},
      {"aten::conv_transpose3d", 2 * 2 * 2 * 2 * 3 * 2,
       [] {
         at::conv_transpose3d(ones({1, 2, 2, 2, 2}), ones({2, 3, 1, 1, 2}));
       }},
      {"aten::matmul", 2 * 3 * 4 * 5,
       [] {
         at::matmul(ones({2, 3, 4}), ones({4, 5}));
       }},
      {"aten::mm", 2 * 3 * 4,
       [] {
         at::mm(ones({2, 3}), ones({3, 4}));
       }},
      {"aten::bmm", 2 * 2 * 3 * 4,
       [] {
         at::bmm(ones({2, 2, 3}), ones({2, 3, 4}));
       }},
      {"aten::mv", 3 * 4,
       [] {
         at::mv(ones({3, 4}), ones({4}));
       }},
      {"aten::addmm", 2 * 3 * 4,
       [] {
         at::addmm(ones({2, 4}), ones({2, 3}), ones({3, 4}));
       }},
      {"aten::addmv", 3 * 4,
       [] {
         at::addmv(ones({3}), ones({3, 4}), ones({4}));
       }},
      {"aten::baddbmm", 2 * 2 * 3 * 4,
       [] {
         at::baddbmm(ones({2, 2, 4}), ones({2, 2, 3}), ones({2, 3, 4}));
       }},
      // Two heads, three queries, five keys: 4 products for a score, 6 for its values.
      {"aten::scaled_dot_product_attention", 2 * 3 * 5 * (4 + 6),
       [] {
         at::scaled_dot_product_attention(ones({1, 2, 3, 4}), ones({1, 2, 5, 4}), ones({1, 2, 5, 6}));
       }},
      // Three maps of [cache, tokens] (2 × 4) to 4, for 5 tokens of 2 samples.
      {"cachet::grc_update", 3 * 2 * 5 * 8 * 4,
       [] {
         const ops::GateWeights gate{ones({4, 8}), {}};
         ops::grc_update(ones({1, 5, 4}), ones({2, 5, 4}), gate, gate, gate);
       }},
      // φ: 4 to 4 for 3 queries and 5 keys of 2 heads. Then 4 × (6 + 1) sums, once for a key and once for a query.
      {"cachet::kernel_attention", 2 * (3 + 5) * 4 * 4 + 2 * (3 + 5) * 4 * 7,
       [] {
         ops::kernel_attention(ones({1, 2, 3, 4}), ones({1, 2, 5, 4}), ones({1, 2, 5, 6}),
                               {{ones({2, 4, 4})}, {ops::FeatureUnit::softplus}});
       }},
      // Two heads, four queries that meet two blocks of two keys.
      {"cachet::block_attention", 2 * 4 * 4 * (4 + 6),
       [=] {
         ops::block_attention(ones({1, 2, 4, 4}), ones({1, 2, 4, 4}), ones({1, 2, 4, 6}), blocks, 2, 0.5);
       }},
      // 2 × 3 positions of 4 channels, one channel a group, 3 × 3 products each; the class token has none.
      {"cachet::token_convolution", 2 * 2 * 3 * 4 * 9,
       [] {
         ops::token_convolution(ones({2, 7, 4}), ones({4, 1, 3, 3}), {}, {2, 3, 1});
       }},
  };
}

TEST(OperatorRules, CountTheProductsOfEachOperator) {
  const at::NoGradGuard no_grad;
  std::set<std::string> counted, wanted;
  for (const OperatorRule& rule : operator_rules()) wanted.emplace(rule.name);
  for (const Case& each : cases()) {
    std::map<std::string, int64_t> macs;
    {
      const OperatorCalls calls(NestedCalls::outside_of_products, [&](const OperatorCall& call) {
        if (call.rule == nullptr) return;
        for (const Product& product : call.rule->products(call.operands, call.outputs.at(0)))
          macs[std::string(call.name)] += product.macs;
      });
      each.call();
    }
    EXPECT_EQ(macs, (std::map<std::string, int64_t>{{each.name, each.macs}})) << each.name;
    counted.insert(each.name);
  }
  EXPECT_EQ(counted, wanted) << "each rule has a case";
}

}  // namespace
}  // namespace cachet::analysis
