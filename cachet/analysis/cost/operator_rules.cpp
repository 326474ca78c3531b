#include "cachet/analysis/cost/operator_rules.h"

#include <algorithm>
#include <array>

namespace cachet::analysis {
namespace {

int64_t rows(const at::Tensor& x) { return x.size(-1) == 0 ? 0 : x.numel() / x.size(-1); }

// x (…, K), weight (N, K)
std::vector<Product> linear(const Operands& t, const at::Tensor&) { return {{t[0].numel() * t[1].size(0), {t[1]}}}; }

int64_t row_of(const at::Tensor& weight) { return weight.size(0) == 0 ? 0 : weight.numel() / weight.size(0); }

// weight (N, K / groups, …): each value of the output is a product over one row of it
std::vector<Product> convolution(const Operands& t, const at::Tensor& output) {
  return {{output.numel() * row_of(t[1]), {t[1]}}};
}

// weight (K, N / groups, …): each value of x (B, K, …) is multiplied with one row of it
std::vector<Product> transposed_convolution(const Operands& t, const at::Tensor&) {
  return {{t[0].numel() * row_of(t[1]), {t[1]}}};
}

// The first flag is whether it is transposed.
std::vector<Product> any_convolution(const Operands& t, const at::Tensor& output) {
  return t.flags.at(0) ? transposed_convolution(t, output) : convolution(t, output);
}

// a (…, K) with b
std::vector<Product> matrix_product(const Operands& t, const at::Tensor& output) {
  return {{output.numel() * t[0].size(-1), {t[0], t[1]}, /*of_activations=*/true}};
}

// c + a·b
std::vector<Product> added_matrix_product(const Operands& t, const at::Tensor& output) {
  return {{output.numel() * t[1].size(-1), {t[1], t[2]}, /*of_activations=*/true}};
}

// q (B, H, Lq, d), k (B, H, Lk, d), v (B, H, Lk, e): q·kᵀ and weights·v
std::vector<Product> scaled_dot_product_attention(const Operands& t, const at::Tensor&) {
  return {{rows(t[0]) * t[1].size(-2) * (t[0].size(-1) + t[2].size(-1)), {}, /*of_activations=*/true}};
}

// W[C, X̄] of both gates and W[r⊙C, X̄] of the candidate, each for every sample, as the published layer computes them:
// that ours computes the half of a shared cache once is its own affair.
std::vector<Product> grc_update(const Operands& t, const at::Tensor& output) {
  std::vector<Product> products;
  for (const size_t weight : {2, 4, 6}) products.push_back({rows(output) * t[weight].numel(), {t[weight]}});
  return products;
}

// φ's products for each query and key, then the sums over keys of n × (e + 1) and the queries' products with them: the
// feature maps of our layers keep a head's width. t: q, k, v, weights (H, n, n_out)…, padding.
std::vector<Product> kernel_attention(const Operands& t, const at::Tensor&) {
  const int64_t tokens = rows(t[0]) + rows(t[1]);
  std::vector<Product> products;
  for (size_t i = 3; i + 1 < t.size(); ++i)
    products.push_back({tokens * t[i].size(1) * t[i].size(2), {t[i]}, false, /*of_function=*/true});
  products.push_back({tokens * t[0].size(-1) * (t[2].size(-1) + 1), {}, /*of_activations=*/true});
  return products;
}

// q (B, H, Lq, d), k, v (B, H, Lk, e), blocks (H, Nq, W): q·kᵀ and weights·v with the W blocks that each query may
// meet; the first number is their size.
std::vector<Product> block_attention(const Operands& t, const at::Tensor&) {
  const int64_t met = std::min(t[3].size(-1) * t.numbers[0], t[1].size(-2));
  return {{rows(t[0]) * met * (t[0].size(-1) + t[2].size(-1)), {}, /*of_activations=*/true}};
}

// weight (D, D / groups, 3, 3); height, width, class tokens: the latter get no product
std::vector<Product> token_convolution(const Operands& t, const at::Tensor& output) {
  return {{output.size(0) * t.numbers[0] * t.numbers[1] * t[1].numel(), {t[1]}}};
}

constexpr std::array<OperatorRule, 23> kRules{{
    {"aten::linear", linear},
    {"cachet::linear", linear},
    {"cachet::linear_gelu", linear},
    {"cachet::linear_cross_entropy", linear},
    {"aten::conv1d", convolution},
    {"aten::conv2d", convolution},
    {"aten::conv3d", convolution},
    {"aten::conv_transpose1d", transposed_convolution},
    {"aten::conv_transpose2d", transposed_convolution},
    {"aten::conv_transpose3d", transposed_convolution},
    {"aten::convolution", any_convolution},
    {"aten::matmul", matrix_product},
    {"aten::mm", matrix_product},
    {"aten::bmm", matrix_product},
    {"aten::mv", matrix_product},
    {"aten::addmm", added_matrix_product},
    {"aten::addmv", added_matrix_product},
    {"aten::baddbmm", added_matrix_product},
    {"aten::scaled_dot_product_attention", scaled_dot_product_attention},
    {"cachet::grc_update", grc_update},
    {"cachet::kernel_attention", kernel_attention},
    {"cachet::block_attention", block_attention},
    {"cachet::token_convolution", token_convolution},
}};

}  // namespace

std::span<const OperatorRule> operator_rules() { return kRules; }

const OperatorRule* find_operator_rule(std::string_view name) {
  const auto* rule = std::ranges::find(kRules, name, &OperatorRule::name);
  return rule == kRules.end() ? nullptr : rule;
}

}  // namespace cachet::analysis
