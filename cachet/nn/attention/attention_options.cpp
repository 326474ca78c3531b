#include "cachet/nn/attention/attention_options.h"

#include <array>

#include "cachet/nn/attention/softmax_attention.h"

namespace cachet::nn {
namespace {

enum class FunctionKind { softmax };
constexpr std::array<config::Choice<FunctionKind>, 1> kFunctionKinds{{{"softmax", FunctionKind::softmax}}};
constexpr config::Range<double> kDropout{0.0, 0.99};

}  // namespace

AttentionOptions read_attention_options(const config::View& table) {
  AttentionOptions options;
  switch (table.choice("kind", FunctionKind::softmax, kFunctionKinds)) {
    case FunctionKind::softmax:
      options.function = SoftmaxOptions{table.real("dropout", 0.0, kDropout)};
  }
  options.qkv_bias = table.boolean("qkv_bias", options.qkv_bias);
  options.projection_dropout = table.real("projection_dropout", options.projection_dropout, kDropout);
  return options;
}

std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t, int64_t) {
  return std::visit([](const SoftmaxOptions& o) { return std::make_shared<SoftmaxAttention>(o); }, options);
}

}  // namespace cachet::nn
