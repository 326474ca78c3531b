#include "cachet/nn/attention/functions/softmax_attention.h"

#include "cachet/nn/base/option_checks.h"
#include "cachet/ops/attention/softmax_attention.h"

namespace cachet::nn {

torch::Tensor softmax_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                const AttentionArgs& args, double dropout) {
  return ops::softmax_attention(q, k, v, {args.bias, args.context.padding, args.causal}, dropout);
}

constinit const AttentionFunctionKind<SoftmaxOptions> SoftmaxOptions::kKind{
    .name = "softmax",
    .read =
        [](const config::View& table) {
          return SoftmaxOptions{table.real("dropout", SoftmaxOptions{}.dropout, AttentionRanges::kDropout)};
        },
    .make = [](const SoftmaxOptions& o, int64_t, int64_t) -> std::shared_ptr<AttentionFunction> {
      return std::make_shared<SoftmaxAttention>(o);
    },
    .traits = {.takes_bias = true},
    .exports = Export::traced};

SoftmaxAttention::SoftmaxAttention(const SoftmaxOptions& options) : Cloneable("SoftmaxAttention"), options_(options) {
  check_dropout("softmax_attention: dropout", options.dropout);
}

torch::Tensor SoftmaxAttention::attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                       const AttentionArgs& args) {
  return softmax_attention(q, k, v, args, is_training() ? options_.dropout : 0.0);
}

}  // namespace cachet::nn
