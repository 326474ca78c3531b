#include "cachet/nn/attention/attention_options.h"

#include <array>
#include <string>

#include "cachet/nn/attention/block_sparse_attention.h"
#include "cachet/nn/attention/kernel_attention.h"
#include "cachet/nn/attention/local_attention.h"
#include "cachet/nn/attention/lsh_attention.h"
#include "cachet/nn/attention/performer_attention.h"
#include "cachet/nn/attention/softmax_attention.h"

namespace cachet::nn {
namespace {

enum class FunctionKind { softmax, elu, kernel, performer, bigbird, reformer, local };
constexpr std::array<config::Choice<FunctionKind>, 7> kFunctionKinds{{{"softmax", FunctionKind::softmax},
                                                                      {"elu", FunctionKind::elu},
                                                                      {"kernel", FunctionKind::kernel},
                                                                      {"performer", FunctionKind::performer},
                                                                      {"bigbird", FunctionKind::bigbird},
                                                                      {"reformer", FunctionKind::reformer},
                                                                      {"local", FunctionKind::local}}};
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
constexpr std::array<config::Choice<RandomFeatures>, 2> kRandomFeatures{
    {{"softmax", RandomFeatures::softmax}, {"relu", RandomFeatures::relu}}};
constexpr std::array<config::Choice<LshScore>, 2> kLshScores{{{"unit", LshScore::unit}, {"scaled", LshScore::scaled}}};
constexpr std::array<config::Choice<PatternLength>, 2> kPatternLengths{
    {{"model", PatternLength::model}, {"batch", PatternLength::batch}}};
constexpr config::Range<int64_t> kBlockSize{1, 1 << 14};
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

PatternLength read_pattern_length(const config::View& table) {
  return table.choice("pattern_length", PatternLength::model, kPatternLengths);
}

PerformerOptions read_performer(const config::View& table) {
  PerformerOptions o;
  o.form = table.choice("features", o.form, kRandomFeatures);
  o.count = table.integer("feature_count", o.count, {0, 1 << 14});
  o.eps = table.real("eps", performer_eps(o), kEps);
  o.causal_eps = table.real("causal_eps", o.causal_eps, kEps);
  o.redraw_every = table.integer("redraw_every", o.redraw_every, {0, int64_t{1} << 40});
  return o;
}

BigBirdOptions read_big_bird(const config::View& table) {
  BigBirdOptions o;
  o.block_size = table.integer("block_size", o.block_size, kBlockSize);
  o.window = table.integer("window", o.window, {1, 1023});
  if (o.window % 2 == 0)
    table.problem("window",
                  "must be odd: as many blocks before a query's own as behind it, got " + std::to_string(o.window));
  o.random_blocks = table.integer("random_blocks", o.random_blocks, {0, 64});
  o.pattern_length = read_pattern_length(table);
  return o;
}

LshOptions read_lsh(const config::View& table) {
  LshOptions o;
  o.chunk_size = table.integer("chunk_size", o.chunk_size, kBlockSize);
  o.buckets = table.integer("buckets", o.buckets, {2, 1 << 14});
  if (o.buckets % 2 != 0)
    table.problem("buckets",
                  "must be even: each direction of the hash has its opposite, got " + std::to_string(o.buckets));
  o.rounds = table.integer("rounds", o.rounds, {1, 64});
  o.score = table.choice("score", o.score, kLshScores);
  o.pattern_length = read_pattern_length(table);
  return o;
}

}  // namespace

std::string why_not_causal(const AttentionFunctionOptions& options) {
  const std::string use = AttentionFunction::kCausalForms;
  if (std::holds_alternative<BigBirdOptions>(options) || std::holds_alternative<LshOptions>(options))
    return "has no causal form; " + use;
  const auto* performer = std::get_if<PerformerOptions>(&options);
  if (performer && performer->form == RandomFeatures::softmax)
    return "performer with features = \"softmax\" scales by the largest of all keys, later ones too; " + use;
  return "";
}

bool shares_query_and_key(const AttentionFunctionOptions& options) {
  return std::holds_alternative<LshOptions>(options);
}

AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults) {
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
      break;
    case FunctionKind::performer:
      options.function = read_performer(table);
      break;
    case FunctionKind::bigbird:
      options.function = read_big_bird(table);
      break;
    case FunctionKind::reformer:
      options.function = read_lsh(table);
      break;
    case FunctionKind::local:
      options.function =
          LocalOptions{table.integer("window", LocalOptions{}.window, {0, 1 << 20}), read_pattern_length(table)};
  }
  options.qkv_bias = table.boolean("qkv_bias", defaults.qkv_bias);
  options.projection_bias = table.boolean("projection_bias", defaults.projection_bias);
  options.head_dim = table.integer("head_dim", defaults.head_dim, {0, 4096});
  options.projection_dropout = table.real("projection_dropout", defaults.projection_dropout, kDropout);
  return options;
}

std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim) {
  return std::visit(
      [&]<class Options>(const Options& o) -> std::shared_ptr<AttentionFunction> {
        if constexpr (std::is_same_v<Options, SoftmaxOptions>)
          return std::make_shared<SoftmaxAttention>(o);
        else if constexpr (std::is_same_v<Options, LocalOptions>)
          return std::make_shared<LocalAttention>(o);
        else if constexpr (std::is_same_v<Options, BigBirdOptions>)
          return std::make_shared<BlockSparseAttention>(o, num_heads);
        else if constexpr (std::is_same_v<Options, LshOptions>)
          return std::make_shared<LshAttention>(o, num_heads, head_dim);
        else if constexpr (std::is_same_v<Options, PerformerOptions>)
          return std::make_shared<PerformerAttention>(o, num_heads, head_dim);
        else
          return std::make_shared<KernelAttention>(o, num_heads, head_dim);
      },
      options);
}

}  // namespace cachet::nn
