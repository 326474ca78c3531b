#include "cachet/nn/attention/attention_function.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <limits>

namespace cachet::nn {
namespace {

// A layout's bias, or zeros, with −∞ where a key is hidden: broadcasts to (B, H, Lq, Lk).
torch::Tensor score_addend(const torch::Tensor& q, const torch::Tensor& k, const AttentionArgs& args) {
  const at::NoGradGuard no_grad;
  torch::Tensor bias = at::zeros({1, 1, 1, k.size(2)}, q.options().dtype(at::kFloat));
  if (args.bias.defined()) {
    bias = args.bias.detach();
    while (bias.dim() < 4) bias = bias.unsqueeze(0);
    if (bias.size(0) > 1) bias = bias.repeat({q.size(0) / bias.size(0), 1, 1, 1});
  }
  const double hidden = -std::numeric_limits<double>::infinity();
  if (args.causal) {
    const torch::Tensor later =
        at::ones({q.size(2), k.size(2)}, q.options().dtype(at::kBool)).triu(k.size(2) - q.size(2) + 1);
    bias = bias.masked_fill(later, hidden);
  }
  if (const torch::Tensor& padding = args.context.padding; padding.defined())
    bias = bias.masked_fill(padding.view({padding.size(0), 1, 1, padding.size(1)}), hidden);
  return bias;
}

}  // namespace

void AttentionFunction::tell_operands(const torch::Tensor& q, const torch::Tensor& k, const AttentionArgs& args) const {
  if (args.query.padding.defined()) notify(Signal::token_padding, args.query.padding);
  notify(Signal::attention_operands, q);
  notify(Signal::attention_keys, k);
  if (observed({Signal::attention_bias})) notify(Signal::attention_bias, score_addend(q, k, args));
}

void AttentionFunction::refuse_bias(const char* name, const AttentionArgs& args) {
  TORCH_CHECK(!args.bias.defined(), name,
              ": cannot use an attention bias, which has a value for each pair of tokens, because this form does not "
              "compute all pairs; use attention.kind = \"softmax\"");
}

void AttentionFunction::refuse_causal(const char* name, const AttentionArgs& args) {
  TORCH_CHECK(!args.causal, name, ": has no causal form; ", causal_forms());
}

}  // namespace cachet::nn
