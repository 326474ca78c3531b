#include "cachet/nn/attention/attention_options.h"

#include <array>

#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/attention/softmax_attention.h"

namespace cachet::nn {
namespace {

enum class FunctionKind { softmax, elu, kernel };
constexpr std::array<config::Choice<FunctionKind>, 3> kFunctionKinds{
    {{"softmax", FunctionKind::softmax}, {"elu", FunctionKind::elu}, {"kernel", FunctionKind::kernel}}};
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
constexpr config::Range<double> kDropout{0.0, 0.99};
constexpr config::Range<double> kEps{0.0, 1.0};

KernelOptions read_kernel(const config::View& table) {
  KernelOptions o;
  o.form = table.choice("form", o.form, kForms);
  o.head_wise = table.boolean("head_wise", o.head_wise);
  o.eps = table.real("eps", o.eps, kEps);
  const bool linear = o.form == KernelForm::linear || o.form == KernelForm::orthogonal_linear;
  // A key that the form has no use for is an unknown key.
  if (!linear) o.layers = table.integer("layers", o.layers, {1, 16});
  if (o.form == KernelForm::low_rank_glu) o.gate_rank = table.integer("gate_rank", o.gate_rank, {0, 4096});
  if (o.form == KernelForm::orthogonal_linear || o.form == KernelForm::orthogonal_glu ||
      o.form == KernelForm::low_rank_glu)
    o.penalty = table.real("penalty", o.penalty, {0.0, 1e6});
  if (o.form == KernelForm::feed_forward) {
    o.activation = table.choice("activation", o.activation, kActivations);
    o.between = table.choice("norm", o.between, kBetween);
  }
  return o;
}

}  // namespace

AttentionOptions read_attention_options(const config::View& table, const AttentionDefaults& defaults) {
  AttentionOptions options;
  switch (table.choice("kind", FunctionKind::softmax, kFunctionKinds)) {
    case FunctionKind::softmax:
      options.function = SoftmaxOptions{table.real("dropout", 0.0, kDropout)};
      break;
    case FunctionKind::elu:
      options.function = EluOptions{table.real("eps", EluOptions{}.eps, kEps)};
      break;
    case FunctionKind::kernel:
      options.function = read_kernel(table);
  }
  options.qkv_bias = table.boolean("qkv_bias", defaults.qkv_bias);
  options.projection_dropout = table.real("projection_dropout", options.projection_dropout, kDropout);
  return options;
}

std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim) {
  return std::visit(
      [&]<class Options>(const Options& o) -> std::shared_ptr<AttentionFunction> {
        if constexpr (std::is_same_v<Options, SoftmaxOptions>)
          return std::make_shared<SoftmaxAttention>(o);
        else
          return std::make_shared<KernelAttention>(o, num_heads, head_dim);
      },
      options);
}

}  // namespace cachet::nn
