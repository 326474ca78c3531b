#include "cachet/analysis/plug_ins/kernel_use.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/attention/functions/softmax_attention.h"

namespace cachet::analysis {
namespace {

constexpr double kBinsADecade = 4, kFirstDecade = -4;
// What is looked at in one call, which takes about as long as the call itself: scores of each sample, scores of all of
// them, and values of features.
constexpr int64_t kMaxScoresOfSample = int64_t{1} << 17, kMaxScores = int64_t{1} << 22, kMaxFeatures = int64_t{1} << 18;

const nn::KernelAttention* kernel_of(const torch::nn::Module& function) {
  return dynamic_cast<const nn::KernelAttention*>(&function);
}

bool is_dense(const torch::nn::Module& function) {
  return kernel_of(function) != nullptr || dynamic_cast<const nn::SoftmaxAttention*>(&function) != nullptr;
}

/// `count` different positions of `length`, in their order.
at::Tensor drawn_positions(int64_t length, int64_t count, std::mt19937_64& random) {
  at::Tensor positions = at::arange(length, at::kLong);
  if (count >= length) return positions;
  int64_t* place = positions.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i)
    std::swap(place[i], place[i + static_cast<int64_t>(random() % static_cast<uint64_t>(length - i))]);
  std::sort(place, place + count);
  return positions.narrow(0, 0, count);
}

at::Tensor selected(const at::Tensor& x, int64_t dim, const at::Tensor& positions) {
  return x.index_select(dim, positions.to(x.device()));
}

/// The operands of a call, or some of its samples and queries.
struct Scores {
  at::Tensor queries, keys, bias;  // (B, H, Lq, d), (B or 1, H, Lk, d), (B or 1, H or 1, Lq, Lk), float32
  at::Tensor hidden;               // as bias, bool
  at::Tensor is_token;             // of queries, bool (B or 1, 1, Lq)
  at::Tensor is_key;               // of keys, bool (B or 1, 1, Lk)

  at::Tensor visible() const { return hidden.logical_not().sum(3); }            // keys that a query sees
  at::Tensor counted() const { return is_token.logical_and(visible().gt(0)); }  // queries
  Scores of_queries(const at::Tensor& positions) const {
    const auto some = [&](const at::Tensor& x) { return selected(x, 2, positions); };
    return {some(queries), keys, some(bias), some(hidden), some(is_token), is_key};
  }
  Scores of_sample(int64_t sample) const {
    const auto one = [&](const at::Tensor& x) { return x.size(0) > 1 ? x.narrow(0, sample, 1) : x; };
    return {one(queries), one(keys), one(bias), one(hidden), one(is_token), one(is_key)};
  }
  Scores of_first_head() const {
    const auto one = [&](const at::Tensor& x) { return x.narrow(1, 0, 1); };
    return {one(queries), one(keys), one(bias), one(hidden), is_token, is_key};
  }
};

// A key that no query sees is padding: the last query sees each other key, of causal layers too.
Scores all_scores(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& bias,
                  const at::Tensor& padding) {
  const at::Tensor added = bias.to(at::kFloat), hidden = added.eq(-std::numeric_limits<double>::infinity());
  const at::Tensor tokens = padding.defined() ? padding.logical_not().unsqueeze(1)
                                              : at::ones({1, 1, queries.size(2)}, queries.options().dtype(at::kBool));
  const auto of_each_query = [&](const at::Tensor& x) { return x.expand({-1, -1, queries.size(2), -1}); };
  return {queries.to(at::kFloat),
          keys.to(at::kFloat),
          of_each_query(added),
          of_each_query(hidden),
          tokens,
          hidden.all(2).all(1, /*keepdim=*/true).logical_not()};
}

/// The scores without the positions that are padding in all samples: how far a batch is padded changes nothing.
Scores without_common_padding(const Scores& scores) {
  const auto of_any = [](const at::Tensor& valid) { return valid.any(0).flatten().nonzero().flatten(); };
  const at::Tensor tokens = of_any(scores.is_token), keys = of_any(scores.is_key);
  Scores some = tokens.numel() < scores.queries.size(2) ? scores.of_queries(tokens) : scores;
  if (keys.numel() == scores.keys.size(2)) return some;
  some.keys = selected(some.keys, 2, keys);
  some.bias = selected(some.bias, 3, keys);
  some.hidden = selected(some.hidden, 3, keys);
  some.is_key = selected(some.is_key, 2, keys);
  return some;
}

at::Tensor softmax_weights(const Scores& scores) {
  const double scale = 1 / std::sqrt(static_cast<double>(scores.queries.size(3)));
  const at::Tensor products = at::matmul(scores.queries, scores.keys.transpose(2, 3)) * scale + scores.bias;
  return products.softmax(3).nan_to_num(0);  // a query that sees no key
}

// weights (1, 1, Lq, Lk) without the columns of padding, neighbours averaged where there are many.
at::Tensor shown(const at::Tensor& weights, const at::Tensor& keys) {
  const at::Tensor one = weights[0].index_select(2, keys).cpu();
  const int64_t rows = std::min(kShownTokens, one.size(1)), columns = std::min(kShownTokens, one.size(2));
  return at::adaptive_avg_pool2d(one, {rows, columns})[0];
}

/// φ of tokens (B or 1, H, L, n), and which of them are not padding, (B or 1, 1, L).
struct Features {
  at::Tensor values, valid;

  at::Tensor mask() const {
    const at::Tensor of_samples = values.size(0) == 1 && valid.size(0) > 1 ? valid.any(0, /*keepdim=*/true) : valid;
    return of_samples.unsqueeze(3);
  }
};

// Of tokens that are drawn if there are many; each counts for as many as it stands for.
std::array<double, kFeatureBins> feature_histogram(const Features& features, std::mt19937_64& random) {
  const int64_t length = features.values.size(2);
  const int64_t count =
      std::clamp<int64_t>(kMaxFeatures / std::max<int64_t>(1, features.values.numel() / length), 1, length);
  const at::Tensor positions = drawn_positions(length, count, random).to(features.values.device());
  const at::Tensor values = features.values.index_select(2, positions);
  const at::Tensor weights = features.mask().index_select(2, positions).expand(values.sizes()).to(at::kDouble);
  const at::Tensor bins = (values.clamp_min(1e-30).log10() - kFirstDecade)
                              .mul(kBinsADecade)
                              .floor()
                              .clamp(0, kFeatureBins - 1)
                              .to(at::kLong)
                              .flatten();
  const at::Tensor counts = at::bincount(bins.cpu(), weights.flatten().cpu(), kFeatureBins) *
                            (static_cast<double>(length) / static_cast<double>(count));
  std::array<double, kFeatureBins> all{};
  std::copy_n(counts.const_data_ptr<double>(), kFeatureBins, all.begin());
  return all;
}

double sum_of(const at::Tensor& x) { return x.sum(at::kDouble).item<double>(); }

}  // namespace

bool has_dense_attention(const torch::nn::Module& model) {
  return std::ranges::any_of(model.modules(/*include_self=*/false),
                             [](const auto& module) { return is_dense(*module); });
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

KernelUse::KernelUse(const torch::nn::Module& model, uint64_t seed) : seed_(seed) {
  for (const auto& item : model.named_modules("", /*include_self=*/false))
    if (is_dense(*item.value())) functions_[item.key()] = item.value();
}

KernelUse::Sums& KernelUse::sums_of(const std::string& path) {
  return sums_.find_or_add(path, [this] { return Sums(seed_); });
}

nn::Listener KernelUse::listener() {
  using nn::Signal;
  return nn::Listener(
      [this](const std::string& path, Signal signal, const at::Tensor& value) {
        const auto found = functions_.find(path);
        if (found == functions_.end()) return;
        if (signal == Signal::token_padding) sums_of(path).padding = value;
        if (signal == Signal::attention_operands) sums_of(path).queries = value;
        if (signal == Signal::attention_keys) sums_of(path).keys = value;
        if (signal == Signal::attention_bias) add(*found->second, sums_of(path), value);
      },
      {Signal::token_padding, Signal::attention_operands, Signal::attention_keys, Signal::attention_bias});
}

void KernelUse::add(const torch::nn::Module& function, Sums& sums, const at::Tensor& bias) const {
  const at::NoGradGuard no_grad;
  const at::Tensor queries = std::exchange(sums.queries, {}), keys = std::exchange(sums.keys, {}),
                   padding = std::exchange(sums.padding, {});
  if (queries.numel() == 0 || keys.numel() == 0) return;
  const auto* kernel = kernel_of(function);
  const Scores all = without_common_padding(all_scores(queries, keys, bias, padding));
  const int64_t length = all.queries.size(2), context = all.keys.size(2), samples = queries.size(0);
  if (length == 0 || context == 0) return;
  const auto weights_of = [&](const Scores& scores, const at::Tensor& of_queries, const at::Tensor& of_keys) {
    return kernel->weights_of_features(of_queries, of_keys, scores.hidden).nan_to_num(0);
  };

  // Each sample of all calls is the shown one with equal probability.
  sums.samples += static_cast<uint64_t>(samples);
  if (sums.random() % sums.samples < static_cast<uint64_t>(samples)) {
    const Scores sample = all.of_sample(static_cast<int64_t>(sums.random() % static_cast<uint64_t>(samples)));
    const at::Tensor tokens = sample.is_token.flatten().nonzero().flatten(),
                     visible = sample.is_key.flatten().nonzero().flatten();
    if (tokens.numel() > 0 && visible.numel() > 0) {
      const int64_t rows = std::clamp<int64_t>(kMaxScores / context, 1, tokens.numel());
      const Scores some = sample.of_queries(selected(tokens, 0, drawn_positions(tokens.numel(), rows, sums.random)));
      const at::Tensor softmax = shown(softmax_weights(some.of_first_head()), visible);
      sums.weights = softmax;
      if (kernel != nullptr) {
        const auto first_head = [&](const at::Tensor& x) { return kernel->features(x).narrow(1, 0, 1); };
        sums.softmax_weights = softmax;
        sums.weights =
            shown(weights_of(some.of_first_head(), first_head(some.queries), first_head(some.keys)), visible);
      }
    }
  }

  const int64_t of_query = (kernel == nullptr ? 1 : 2) * samples * queries.size(1) * context;
  const int64_t count = std::clamp<int64_t>(std::min(kMaxScoresOfSample * samples, kMaxScores) / of_query, 1, length);
  const double stands_for = static_cast<double>(length) / static_cast<double>(count);
  const Scores scores = count == length ? all : all.of_queries(drawn_positions(length, count, sums.random));
  const at::Tensor visible = scores.visible(), valid = scores.counted();
  const at::Tensor softmax = softmax_weights(scores);
  const EntropySum of_softmax = entropy_of(softmax, visible, valid);
  sums.queries_seen += stands_for * of_softmax.queries;
  if (kernel == nullptr) {
    sums.entropy += stands_for * of_softmax.entropy;
    return;
  }
  const at::Tensor of_queries = kernel->features(scores.queries), of_keys = kernel->features(scores.keys);
  const at::Tensor weights = weights_of(scores, of_queries, of_keys);
  sums.entropy += stands_for * entropy_of(weights, visible, valid).entropy;
  sums.softmax_entropy += stands_for * of_softmax.entropy;
  const at::Tensor counted = valid.logical_and(visible.gt(1));
  sums.distance += stands_for * sum_of(at::where(counted, (weights - softmax).abs().sum(3) / 2, at::Scalar(0)));
  const auto add_features = [&](const Features& features, double each) {
    const auto counts = feature_histogram(features, sums.random);
    for (size_t bin = 0; bin < counts.size(); ++bin) sums.features[bin] += each * counts[bin];
    const at::Tensor valid = at::where(features.mask(), features.values, at::Scalar(0));
    const at::Tensor largest = valid.amax({0, 2}), total = valid.sum(at::IntArrayRef({0, 2})).to(at::kDouble) * each;
    sums.largest = sums.largest.defined() ? at::maximum(sums.largest, largest) : largest;
    sums.total = sums.total.defined() ? sums.total + total : total;
    sums.values += each * sum_of(features.mask()) * (valid.size(0) / features.mask().size(0));
  };
  add_features({of_queries, scores.is_token}, stands_for);
  add_features({of_keys, scores.is_key}, 1);
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
