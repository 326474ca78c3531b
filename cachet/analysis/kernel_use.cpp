#include "cachet/analysis/kernel_use.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>

#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/attention/softmax_attention.h"

namespace cachet::analysis {
namespace {

constexpr double kBinsADecade = 4, kFirstDecade = -4;
// What is looked at in one call: little beside the call itself, and enough for a mean over many.
constexpr int64_t kMostScores = int64_t{1} << 15, kMostFeatures = int64_t{1} << 14;

const nn::KernelAttention* kernel_of(const torch::nn::Module& function) {
  return dynamic_cast<const nn::KernelAttention*>(&function);
}

bool is_dense(const torch::nn::Module& function) {
  return kernel_of(function) != nullptr || dynamic_cast<const nn::SoftmaxAttention*>(&function) != nullptr;
}

// Some of the samples and queries of a call, half as many where two matrices are made of them.
struct Scores {
  at::Tensor queries, keys, bias;  // (b, H, l, d), (b, H, Lk, d), (b or 1, H or 1, l, Lk)
  at::Tensor hidden;               // as bias, bool
  at::Tensor visible, valid;       // keys that a query sees, whether it is a token at all: (b or 1, H or 1, l)
};

Scores some_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& bias, int64_t matrices) {
  const int64_t heads = queries.size(1), length = queries.size(2), context = keys.size(2);
  const int64_t samples = std::clamp<int64_t>(kMostScores / (matrices * heads * length * context), 1, queries.size(0));
  const int64_t every = std::max<int64_t>(1, matrices * heads * length * context / (4 * kMostScores));
  const auto first = [&](const at::Tensor& x) { return x.size(0) > samples ? x.narrow(0, 0, samples) : x; };
  const at::Tensor rows = first(bias).to(at::kFloat).expand({-1, -1, length, -1});
  Scores scores;
  scores.queries = first(queries).to(at::kFloat).slice(2, 0, length, every);
  scores.keys = first(keys).to(at::kFloat);
  const at::Tensor all_hidden = rows.eq(-std::numeric_limits<double>::infinity());
  scores.bias = rows.slice(2, 0, length, every);
  scores.hidden = all_hidden.slice(2, 0, length, every);
  scores.visible = scores.hidden.logical_not().sum(3);
  // Self-attention has its padding on both sides: a key that nobody sees is a query that is no token.
  const at::Tensor token = length == context ? all_hidden.all(2).logical_not().slice(2, 0, length, every)
                                             : at::ones_like(scores.visible, at::kBool);
  scores.valid = token.logical_and(scores.visible.gt(0));
  return scores;
}

at::Tensor softmax_weights(const Scores& scores) {
  const double scale = 1 / std::sqrt(static_cast<double>(scores.queries.size(3)));
  const at::Tensor products = at::matmul(scores.queries, scores.keys.transpose(2, 3)) * scale + scores.bias;
  return products.softmax(3).nan_to_num(0);  // a query that sees no key
}

// The first head of the first sample, neighbours averaged where it is large.
at::Tensor shown(const at::Tensor& weights) {
  const at::Tensor one = weights.slice(0, 0, 1).select(1, 0).cpu();
  const int64_t rows = std::min(kShownTokens, one.size(1)), columns = std::min(kShownTokens, one.size(2));
  return at::adaptive_avg_pool2d(one, {rows, columns})[0];
}

// Of evenly spaced tokens where there are many.
std::array<double, kFeatureBins> feature_histogram(const at::Tensor& features) {
  const int64_t every = std::max<int64_t>(1, features.numel() / kMostFeatures);
  const at::Tensor bins = (features.slice(2, 0, features.size(2), every).clamp_min(1e-30).log10() - kFirstDecade)
                              .mul(kBinsADecade)
                              .floor()
                              .clamp(0, kFeatureBins - 1)
                              .to(at::kLong)
                              .flatten();
  const at::Tensor counts = at::bincount(bins.cpu(), {}, kFeatureBins).to(at::kDouble);
  std::array<double, kFeatureBins> all{};
  std::copy_n(counts.const_data_ptr<double>(), kFeatureBins, all.begin());
  return all;
}

double sum_of(const at::Tensor& x) { return x.sum(at::kDouble).item<double>(); }

}  // namespace

double feature_bin(int64_t bin) { return std::pow(10, kFirstDecade + static_cast<double>(bin) / kBinsADecade); }

bool has_dense_attention(const torch::nn::Module& model) {
  return std::ranges::any_of(model.modules(/*include_self=*/false),
                             [](const auto& module) { return is_dense(*module); });
}

bool has_kernel_attention(const torch::nn::Module& model) {
  return std::ranges::any_of(model.modules(/*include_self=*/false),
                             [](const auto& module) { return kernel_of(*module) != nullptr; });
}

double orthogonality_residual(const at::Tensor& weight) {
  const at::NoGradGuard no_grad;
  const at::Tensor wide = weight.detach().to(at::kCPU, at::kDouble);
  const int64_t n = wide.size(1);
  const at::Tensor off = at::matmul(wide, wide.transpose(1, 2)) - at::eye(n, wide.options());
  return (off.norm(2, {1, 2}) / std::sqrt(static_cast<double>(n))).mean().item<double>();
}

EntropySum entropy_of(const at::Tensor& weights, const at::Tensor& visible, const at::Tensor& valid) {
  const at::NoGradGuard no_grad;
  const at::Tensor counted = valid.logical_and(visible.gt(1)).expand({weights.size(0), weights.size(1), -1});
  const at::Tensor most = visible.clamp_min(2).to(weights.scalar_type()).log();
  // Not xlogy, which takes its logarithms one by one; of a weight of 0 the product is 0 all the same.
  const at::Tensor entropy = -(weights * weights.clamp_min(std::numeric_limits<float>::min()).log()).sum(3) / most;
  return {sum_of(at::where(counted, entropy, at::Scalar(0))), sum_of(counted)};
}

KernelUse::KernelUse(const torch::nn::Module& model) {
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (is_dense(*item.value())) functions_[item.key()] = item.value();
}

nn::Listener KernelUse::listener() {
  return nn::Listener(
      [this](const std::string& path, nn::Signal signal, const at::Tensor& value) {
        const auto found = functions_.find(path);
        if (found == functions_.end()) return;
        if (signal == nn::Signal::attention_operands) sums_[path].queries = value;
        if (signal == nn::Signal::attention_keys) sums_[path].keys = value;
        if (signal == nn::Signal::attention_bias) add(*found->second, sums_[path], value);
      },
      {nn::Signal::attention_operands, nn::Signal::attention_keys, nn::Signal::attention_bias});
}

void KernelUse::add(const torch::nn::Module& function, Sums& sums, const at::Tensor& bias) const {
  const at::NoGradGuard no_grad;
  if (sums.queries.numel() == 0 || sums.keys.numel() == 0) return;
  const auto* kernel = kernel_of(function);
  const Scores scores = some_scores(sums.queries, sums.keys, bias, kernel == nullptr ? 1 : 2);
  sums.queries = sums.keys = at::Tensor();
  const at::Tensor softmax = softmax_weights(scores);
  const EntropySum of_softmax = entropy_of(softmax, scores.visible, scores.valid);
  sums.queries_seen += of_softmax.queries;
  if (kernel == nullptr) {
    sums.entropy += of_softmax.entropy;
    if (!sums.weights.defined()) sums.weights = shown(softmax);
    return;
  }
  const at::Tensor of_queries = kernel->features(scores.queries), of_keys = kernel->features(scores.keys);
  const at::Tensor weights = kernel->weights_of_features(of_queries, of_keys, scores.hidden).nan_to_num(0);
  sums.entropy += entropy_of(weights, scores.visible, scores.valid).entropy;
  sums.softmax_entropy += of_softmax.entropy;
  const at::Tensor counted = scores.valid.logical_and(scores.visible.gt(1));
  sums.distance += sum_of(at::where(counted, (weights - softmax).abs().sum(3) / 2, at::Scalar(0)));
  if (!sums.weights.defined()) {
    sums.weights = shown(weights);
    sums.softmax_weights = shown(softmax);
  }
  for (const at::Tensor& features : {of_queries, of_keys}) {
    const auto counts = feature_histogram(features);
    for (size_t bin = 0; bin < counts.size(); ++bin) sums.features[bin] += counts[bin];
    const at::Tensor largest = features.amax({0, 2}), total = features.sum(at::IntArrayRef({0, 2})).to(at::kDouble);
    sums.largest = sums.largest.defined() ? at::maximum(sums.largest, largest) : largest;
    sums.total = sums.total.defined() ? sums.total + total : total;
    sums.values += static_cast<double>(features.size(0) * features.size(2));
  }
}

ByLayer<KernelUse::Layer> KernelUse::layers() const {
  ByLayer<Layer> layers;
  for (const auto& [path, sums] : sums_) {
    Layer& layer = layers[path];
    const auto* kernel = kernel_of(*functions_.at(path));
    layer.kernel = kernel != nullptr;
    layer.entropy = sums.entropy / sums.queries_seen;
    layer.weights = sums.weights;
    if (kernel == nullptr) continue;
    layer.softmax_entropy = sums.softmax_entropy / sums.queries_seen;
    layer.distance = sums.distance / sums.queries_seen;
    layer.softmax_weights = sums.softmax_weights;
    double all = 0;
    for (const double count : sums.features) all += count;
    for (size_t bin = 0; bin < sums.features.size(); ++bin) layer.features[bin] = sums.features[bin] / all;
    const at::Tensor mean = (sums.total / sums.values).mean(1, /*keepdim=*/true);
    layer.dead = sums.largest.to(at::kDouble).lt(mean * kDeadFeature).to(at::kDouble).mean().item<double>();
    for (const at::Tensor& weight : kernel->orthogonal_weights())
      layer.orthogonality.push_back(orthogonality_residual(weight));
  }
  return layers;
}

}  // namespace cachet::analysis
