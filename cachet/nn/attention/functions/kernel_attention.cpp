#include "cachet/nn/attention/functions/kernel_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>

#include "cachet/nn/base/initialization.h"
#include "cachet/nn/norm/layer_norm.h"

namespace cachet::nn {
namespace {

constexpr double kNormEps = 1e-5;

constexpr std::array<config::Choice<KernelForm>, 6> kForms{{{"linear", KernelForm::linear},
                                                            {"orthogonal_linear", KernelForm::orthogonal_linear},
                                                            {"glu", KernelForm::glu},
                                                            {"oglu", KernelForm::orthogonal_glu},
                                                            {"aoglu", KernelForm::low_rank_glu},
                                                            {"feed_forward", KernelForm::feed_forward}}};
constexpr std::array<config::Choice<KernelActivation>, 2> kActivations{
    {{"gelu", KernelActivation::gelu}, {"sigmoid", KernelActivation::sigmoid}}};
constexpr std::array<config::Choice<KernelBetween>, 2> kBetween{
    {{"none", KernelBetween::none}, {"layer", KernelBetween::layer_norm}}};

bool gated(KernelForm form) {
  return form == KernelForm::glu || form == KernelForm::orthogonal_glu || form == KernelForm::low_rank_glu;
}

// Whose weight (of a gated unit, the half that is not the gate) stays orthogonal. In the paper's AOGLU it is too.
bool orthogonal(KernelForm form) {
  return form == KernelForm::orthogonal_linear || form == KernelForm::orthogonal_glu ||
         form == KernelForm::low_rank_glu;
}

KernelOptions read_kernel_attention(const config::View& table) {
  KernelOptions o;
  o.form = table.choice("form", o.form, kForms);
  o.head_wise = table.boolean("head_wise", o.head_wise);
  o.eps = table.real("eps", o.eps, AttentionRanges::kEps);
  const bool linear = o.form == KernelForm::linear || o.form == KernelForm::orthogonal_linear;
  // A key that the form has no use for is an unknown key.
  if (!linear) o.layers = table.integer("layers", o.layers, {1, 16});
  if (o.form == KernelForm::low_rank_glu) o.gate_rank = table.integer("gate_rank", o.gate_rank, {0, 4096});
  if (orthogonal(o.form)) o.penalty = table.real("penalty", o.penalty, {0.0, 1e6});
  if (o.form == KernelForm::feed_forward) {
    o.activation = table.choice("activation", o.activation, kActivations);
    o.between = table.choice("norm", o.between, kBetween);
  }
  return o;
}

std::optional<Misfit> misfit_of_gate(const KernelOptions& o, int64_t head_dim) {
  if (o.gate_rank <= head_dim) return std::nullopt;
  return Misfit{"gate_rank", "must not be above the number of channels of a head, but " + std::to_string(o.gate_rank) +
                                 " is more than the " + std::to_string(head_dim) + " channels of a head"};
}

template <class Options>
std::shared_ptr<AttentionFunction> make_kernel_attention(const Options& options, int64_t num_heads, int64_t head_dim) {
  return std::make_shared<KernelAttention>(options, num_heads, head_dim);
}

ops::FeatureUnit hidden_unit(const KernelOptions& options) {
  if (gated(options.form)) return ops::FeatureUnit::glu;
  return options.activation == KernelActivation::gelu ? ops::FeatureUnit::gelu : ops::FeatureUnit::sigmoid;
}

ops::FeatureUnit output_unit(const KernelOptions& options) {
  return gated(options.form) ? ops::FeatureUnit::softplus_glu : ops::FeatureUnit::softplus;
}

}  // namespace

constinit const AttentionFunctionKind<EluOptions> EluOptions::kKind{
    .name = "elu",
    .read =
        [](const config::View& table) {
          return EluOptions{table.real("eps", EluOptions{}.eps, AttentionRanges::kEps)};
        },
    .make = make_kernel_attention<EluOptions>,
    .traits = {.sums_past = true},
    .exports = Export::traced};

constinit const AttentionFunctionKind<KernelOptions> KernelOptions::kKind{.name = "kernel",
                                                                          .read = read_kernel_attention,
                                                                          .make = make_kernel_attention<KernelOptions>,
                                                                          .traits = {.sums_past = true},
                                                                          .exports = Export::traced,
                                                                          .misfit = misfit_of_gate};

KernelAttention::KernelAttention(const EluOptions& options, int64_t num_heads, int64_t head_dim)
    : Cloneable("EluAttention"), eps_(options.eps), num_heads_(num_heads), head_dim_(head_dim) {}

KernelAttention::KernelAttention(const KernelOptions& options, int64_t num_heads, int64_t head_dim)
    : Cloneable("KernelAttention"), options_(options), eps_(options.eps), num_heads_(num_heads), head_dim_(head_dim) {
  TORCH_CHECK(num_heads >= 1 && head_dim >= 1,
              "kernel_attention: needs at least one head and one channel in each head, got ", num_heads, " heads of ",
              head_dim, " channels");
  TORCH_CHECK(std::isfinite(options.penalty) && options.penalty >= 0,
              "kernel_attention: penalty must be at least 0, got ", options.penalty);
  TORCH_CHECK(options.layers >= 1, "kernel_attention: needs at least one layer, got ", options.layers);
  TORCH_CHECK(options.gate_rank >= 0 && options.gate_rank <= head_dim,
              "kernel_attention: gate_rank must be from 0 to the number of channels of a head, ", head_dim, ", got ",
              options.gate_rank);
  const int64_t heads = options.head_wise ? num_heads : 1;
  const int64_t rank = options.gate_rank > 0 ? options.gate_rank : std::max<int64_t>(1, head_dim / 4);
  const auto all = register_module("features", std::make_shared<ModuleGroup>("FeatureMap"));
  for (int64_t i = 0; i < options.layers; ++i) {
    const bool last = i + 1 == options.layers;
    const auto part = all->register_module(std::to_string(i), std::make_shared<ModuleGroup>("FeatureLayer"));
    const auto parameter = [&](const char* name, int64_t rows, int64_t columns) {
      torch::Tensor weight = part->register_parameter(name, at::empty({heads, rows, columns}));
      return xavier_uniform_(weight);
    };
    Layer layer;
    layer.unit = last ? output_unit(options) : hidden_unit(options);
    layer.weight = parameter("weight", head_dim, head_dim);
    if (orthogonal(options.form)) orthogonal_(layer.weight);
    if (options.form == KernelForm::low_rank_glu) {
      layer.gate_down = parameter("gate_down", head_dim, rank);
      layer.gate_up = parameter("gate_up", rank, head_dim);
    } else if (gated(options.form)) {
      layer.gate = parameter("gate", head_dim, head_dim);
    }
    if (!last && options.between == KernelBetween::layer_norm)
      layer.norm = part->register_module("norm", std::make_shared<LayerNorm>(head_dim, kNormEps));
    layers_.push_back(layer);
  }
}

torch::Tensor KernelAttention::joined_weight(const Layer& layer) const {
  if (!ops::is_gated(layer.unit)) return layer.weight;
  torch::Tensor gate = layer.gate;
  if (!gate.defined()) gate = at::matmul(layer.gate_down, layer.gate_up);
  return at::cat({layer.weight, gate.to(layer.weight.scalar_type())}, 2);
}

ops::FeatureMap KernelAttention::map(size_t from, size_t to) const {
  if (layers_.empty()) return {{}, {ops::FeatureUnit::elu_plus_one}};
  ops::FeatureMap map;
  for (size_t i = from; i < to; ++i) {
    map.weights.push_back(joined_weight(layers_[i]));
    map.units.push_back(layers_[i].unit);
  }
  return map;
}

torch::Tensor KernelAttention::features(const torch::Tensor& x) const {
  if (!has_norms()) return ops::kernel_features(x, map(0, layers_.size()));
  torch::Tensor y = x;
  for (size_t i = 0; i < layers_.size(); ++i) {
    y = ops::kernel_features(y, map(i, i + 1));
    if (layers_[i].norm) y = layers_[i].norm->forward(y);
  }
  return y;
}

torch::Tensor KernelAttention::weights_of_features(const torch::Tensor& of_q, const torch::Tensor& of_k,
                                                   const torch::Tensor& hidden) const {
  torch::Tensor products = at::matmul(of_q, of_k.transpose(2, 3));
  if (hidden.defined()) products = products.masked_fill(hidden, 0);
  return products / (products.sum(3, /*keepdim=*/true) + eps_);
}

std::vector<torch::Tensor> KernelAttention::orthogonal_weights() const {
  std::vector<torch::Tensor> weights;
  if (!orthogonal(options_.form)) return weights;
  for (const Layer& layer : layers_) weights.push_back(layer.weight);
  return weights;
}

torch::Tensor KernelAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                      const AttentionArgs& args) {
  TORCH_CHECK(!args.bias.defined(),
              "kernel_attention: cannot use an attention bias, because linear attention has no scores to which the "
              "bias could be added; use attention.kind = \"softmax\"");
  const torch::Tensor& mask = args.context.padding;
  const auto padding = mask.defined() ? std::optional(mask) : std::nullopt;
  // Where norms stand between the layers, features are made first and attention has none of its own to apply.
  const bool apart = has_norms();
  const auto zeroed = [&](const torch::Tensor& x) {
    return padding ? x.masked_fill(mask.view({-1, 1, mask.size(1), 1}), 0) : x;
  };
  const torch::Tensor queries = apart ? features(q) : q, keys = apart ? features(zeroed(k)) : k;
  const torch::Tensor values = apart ? v.to(queries.scalar_type()) : v;
  const ops::FeatureMap features = apart ? ops::FeatureMap{} : map(0, layers_.size());
  if (!args.state || !args.state->declares("sums"))
    return ops::kernel_attention(queries, keys, values, features, padding, args.causal, eps_);
  torch::Tensor sums = args.state->get("sums");
  TORCH_CHECK(sums.size(0) == k.size(0), "kernel_attention: the state has ", sums.size(0),
              " batch rows, but the context has ", k.size(0));
  const torch::Tensor out =
      ops::kernel_attention_stream(queries, keys, values, features, padding, args.causal, eps_, sums);
  args.state->set("sums", sums);
  return out;
}

void KernelAttention::declare_state(AttentionState& state, const torch::TensorOptions& options) const {
  const auto wide = c10::promoteTypes(c10::typeMetaToScalarType(options.dtype()), at::kFloat);
  state.declare("sums", at::zeros({state.batch_rows(), num_heads_, head_dim_, head_dim_ + 1}, options.dtype(wide)));
}

torch::Tensor KernelAttention::wide_penalty() const {
  torch::Tensor total;
  if (!orthogonal(options_.form) || options_.penalty == 0) return total;
  for (const Layer& layer : layers_) {
    const torch::Tensor weight = layer.weight.to(c10::promoteTypes(layer.weight.scalar_type(), at::kFloat));
    const torch::Tensor gram = at::matmul(weight, weight.transpose(1, 2));
    const torch::Tensor off = (gram - at::eye(head_dim_, gram.options())).square().sum();
    total = total.defined() ? total + off : off;
  }
  return total * options_.penalty;
}

}  // namespace cachet::nn
