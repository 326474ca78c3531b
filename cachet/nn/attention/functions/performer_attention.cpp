#include "cachet/nn/attention/functions/performer_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "cachet/nn/base/initialization.h"
#include "cachet/ops/attention/kernel_attention.h"

namespace cachet::nn {
namespace {

constexpr double kSoftmaxEps = 1e-4, kReluEps = 1e-3;
constexpr std::array<config::Choice<RandomFeatures>, 2> kRandomFeatures{
    {{"softmax", RandomFeatures::softmax}, {"relu", RandomFeatures::relu}}};

PerformerOptions read_performer_attention(const config::View& table) {
  PerformerOptions o;
  o.form = table.choice("features", o.form, kRandomFeatures);
  o.count = table.integer("feature_count", o.count, {0, 1 << 14});
  o.eps = table.real("eps", performer_eps(o), AttentionRanges::kEps);
  o.causal_eps = table.real("causal_eps", o.causal_eps, AttentionRanges::kEps);
  o.redraw_every = table.integer("redraw_every", o.redraw_every, {0, int64_t{1} << 40});
  return o;
}

std::string why_performer_is_not_causal(const PerformerOptions& o) {
  if (o.form == RandomFeatures::relu) return "";
  return "performer with features = \"softmax\" scales by the largest value of all keys, also of later keys";
}

int64_t feature_count(const PerformerOptions& options, int64_t head_dim) {
  if (options.count > 0) return options.count;
  const auto d = static_cast<double>(head_dim);
  return std::max<int64_t>(1, static_cast<int64_t>(d * std::log(d)));
}

torch::Tensor in_float(const torch::Tensor& x) { return x.to(c10::promoteTypes(x.scalar_type(), at::kFloat)); }

}  // namespace

constinit const AttentionFunctionKind<PerformerOptions> PerformerOptions::kKind{
    .name = "performer",
    .read = read_performer_attention,
    .make = [](const PerformerOptions& o, int64_t num_heads, int64_t head_dim) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<PerformerAttention>(o, num_heads, head_dim);
    },
    .traits = {.causal_with = "features = \"relu\""},
    .exports = Export::traced,
    .why_not_causal = why_performer_is_not_causal};

double performer_eps(const PerformerOptions& options) {
  return options.eps.value_or(options.form == RandomFeatures::softmax ? kSoftmaxEps : kReluEps);
}

torch::Tensor orthogonal_features(int64_t count, int64_t dim, const torch::TensorOptions& options) {
  const at::NoGradGuard no_grad;
  const auto wide = options.dtype(at::kDouble);
  torch::Tensor blocks = at::empty({(count + dim - 1) / dim, dim, dim}, wide);
  orthogonal_(blocks);
  const torch::Tensor lengths = at::randn({count, dim}, wide).norm(2, 1, /*keepdim=*/true);
  return (blocks.flatten(0, 1).narrow(0, 0, count) * lengths).to(options);
}

PerformerAttention::PerformerAttention(const PerformerOptions& options, int64_t, int64_t head_dim)
    : Cloneable("PerformerAttention"), options_(options), eps_(performer_eps(options)) {
  TORCH_CHECK(options.count >= 0, "performer_attention: count of features must be at least 0, got ", options.count);
  TORCH_CHECK(options.redraw_every >= 0, "performer_attention: redraw_every must be at least 0, got ",
              options.redraw_every);
  projection = register_buffer(
      "projection", orthogonal_features(feature_count(options, head_dim), head_dim, torch::TensorOptions(at::kFloat)));
  if (options.redraw_every > 0) forwards_ = register_buffer("forwards", at::zeros({1}, at::kLong));
}

// Counted on the host: whether to draw is not an operator's question, and a model on meta tensors has no numbers.
void PerformerAttention::redraw() {
  if (options_.redraw_every == 0 || !is_training() || forwards_.is_meta()) return;
  const at::NoGradGuard no_grad;
  if (forwards_.item<int64_t>() >= options_.redraw_every) {
    projection.copy_(orthogonal_features(projection.size(0), projection.size(1), projection.options()));
    forwards_.zero_();
  }
  forwards_.add_(1);
}

std::optional<std::string> PerformerAttention::why_not_replayed() const {
  if (options_.redraw_every == 0) return std::nullopt;
  return "the attention counts on the host when it redraws its features (redraw_every)";
}

double PerformerAttention::scale() const {
  return options_.form == RandomFeatures::softmax ? 1 / std::sqrt(static_cast<double>(projection.size(0))) : 1;
}

// w·x̂
torch::Tensor PerformerAttention::projected(const torch::Tensor& x) const {
  const double normaliser = std::pow(static_cast<double>(projection.size(1)), -0.25);
  return at::matmul(x, (projection.to(x.scalar_type()) * normaliser).t());
}

// The positive features from w·x̂ and what is taken off them.
torch::Tensor PerformerAttention::positive(const torch::Tensor& x, const torch::Tensor& products,
                                           const torch::Tensor& largest) const {
  if (options_.form == RandomFeatures::relu) return products.relu() + eps_;
  const double root = std::sqrt(static_cast<double>(projection.size(1)));
  const torch::Tensor half_square = x.square().sum(-1, /*keepdim=*/true) / (2 * root);
  // The scale goes into the exponent, which saves a pass over all features.
  return (products - (half_square + (largest - std::log(scale())))).exp() + eps_ * scale();
}

torch::Tensor PerformerAttention::query_features(const torch::Tensor& q) const {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const torch::Tensor x = in_float(q), products = projected(x);
  return positive(x, products, products.detach().amax(-1, /*keepdim=*/true));
}

torch::Tensor PerformerAttention::key_features(const torch::Tensor& k, const torch::Tensor& padding) const {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  torch::Tensor x = in_float(k);
  torch::Tensor largest;
  if (padding.defined()) x = x.masked_fill(padding.unsqueeze(1).unsqueeze(3), 0);
  const torch::Tensor products = projected(x);
  if (options_.form == RandomFeatures::softmax && k.size(2) > 0) {
    torch::Tensor of_key = products.detach().amax(-1, /*keepdim=*/true);
    constexpr double kMin = std::numeric_limits<float>::lowest();
    if (padding.defined()) of_key = of_key.masked_fill(padding.unsqueeze(1).unsqueeze(3), kMin);
    largest = of_key.amax(2, /*keepdim=*/true);
    // Where all keys are padding any number will do.
    if (padding.defined()) largest = largest.masked_fill(largest.eq(kMin), 0);
  } else {
    largest = at::zeros({}, x.options());
  }
  return positive(x, products, largest);
}

torch::Tensor PerformerAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                         const AttentionArgs& args) {
  refuse_bias("performer_attention", args);
  redraw();
  const torch::Tensor& padding = args.context.padding;
  const torch::Tensor queries = query_features(q), keys = key_features(k, padding);
  const double key_eps = args.causal ? options_.causal_eps : 0.0;
  return ops::kernel_attention(queries, keys, v.to(queries.scalar_type()), {},
                               padding.defined() ? std::optional(padding) : std::nullopt, args.causal, 0.0, key_eps)
      .to(v.scalar_type());
}

}  // namespace cachet::nn
