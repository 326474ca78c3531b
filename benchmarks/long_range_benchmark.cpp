// What attention functions cost against the length of a sequence. Prints CSV: long_range [--quick].
// long_range --attention and --encoder print, for benchmarks/long_range.py, one line a function: name, ms and MiB of a
// training step of one attention layer, or of the encoder layer around it. A second word, a pattern, picks functions by
// their names.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>
#include <iostream>

#include "benchmarks/backward_step.h"
#include "benchmarks/csv_rows.h"
#include "benchmarks/pairs.h"
#include "cachet/analysis/cost/live_memory.h"
#include "cachet/config/glob.h"
#include "cachet/nn/attention/multi_head_attention.h"
#include "cachet/nn/transformer_block.h"

namespace cachet::benchmarks {
namespace {

using at::Tensor;
using Form = nn::KernelForm;

constexpr int kThreads = 2;

struct Function {
  std::string name;
  nn::AttentionFunctionOptions options;
  bool has_causal_form = true;
};

std::vector<Function> functions() {
  nn::PerformerOptions relu;
  relu.form = nn::RandomFeatures::relu;
  relu.count = 256;
  return {{"softmax", nn::SoftmaxOptions{}},
          {"elu + 1", nn::EluOptions{}},
          {"linear kernel", nn::KernelOptions{Form::linear}},
          {"1×GLU", nn::KernelOptions{Form::glu, 1}},
          {"2×GLU", nn::KernelOptions{Form::glu, 2}},
          {"3×GLU", nn::KernelOptions{Form::glu, 3}},
          {"3×AOGLU", nn::KernelOptions{Form::low_rank_glu, 3}},
          {"2 GELU layers", nn::KernelOptions{Form::feed_forward, 2}},
          {"Performer", nn::PerformerOptions{}},
          {"Performer, relu", relu},
          {"BigBird", nn::BigBirdOptions{}, false},
          {"Reformer", nn::LshOptions{}, false},
          {"local", nn::LocalOptions{}}};
}

/// Least squares of log y over log x.
double slope(const std::vector<double>& x, const std::vector<double>& y) {
  double mx = 0, my = 0, xy = 0, xx = 0;
  for (size_t i = 0; i < x.size(); ++i) mx += std::log(x[i]) / x.size(), my += std::log(y[i]) / x.size();
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (std::log(x[i]) - mx) * (std::log(y[i]) - my);
    xx += (std::log(x[i]) - mx) * (std::log(x[i]) - mx);
  }
  return xy / xx;
}

double mebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// Forward and backward of one attention function, batch 1, 4 heads of 64, and MiB of live tensors above the operands.
/// The slope is that of log time over log length from 1,024 tokens on.
void length_rows(const Function& f, bool causal, const std::vector<int64_t>& lengths) {
  const auto function = nn::make_attention_function(f.options, 4, 64);
  nn::AttentionArgs args;
  args.causal = causal;
  std::vector<std::vector<std::string>> rows;
  std::vector<double> x, y;
  for (const int64_t length : lengths) {
    const auto operand = [&] { return at::randn({1, length, 4, 64}).transpose(1, 2).detach().requires_grad_(); };
    const Tensor q = operand(), v = operand(), k = nn::shares_query_and_key(f.options) ? q : operand();
    Tensors inputs{q, v};
    if (!k.is_same(q)) inputs.push_back(k);
    for (const auto& parameter : function->parameters()) inputs.push_back(parameter);
    const auto call = [&] { step({function->forward(q, k, v, args)}, inputs); };
    const double time = analysis::quartiles(in_turns({call}, length >= 8192 ? 3 : 9)[0]).median;
    const analysis::LiveMemory memory;
    call();
    rows.push_back({f.name, causal ? "causal" : "bidirectional", std::to_string(length), std::to_string(kThreads),
                    number(time), number(mebibytes(memory.peak_bytes()), 1)});
    if (length >= 1024) x.push_back(static_cast<double>(length)), y.push_back(time);
  }
  for (auto& row : rows) {
    row.push_back(number(slope(x, y)));
    print_row(row);
  }
}

void length_table(bool quick, std::string_view pattern) {
  std::vector<int64_t> lengths{256, 512, 1024, 2048, 4096, 8192, 16384};
  if (quick) lengths.resize(4);
  print_row({"function", "form", "tokens", "threads", "ms", "mib", "slope"});
  for (const Function& f : functions())
    for (const bool causal : {false, true})
      if (config::glob_matches(pattern, f.name) && (!causal || f.has_causal_form)) length_rows(f, causal, lengths);
}

// --- one layer -------------------------------------------------------------------------------------------------------

constexpr int64_t kBatch = 4, kTokens = 4096, kDim = 256, kHeads = 4;
constexpr int kSteps = 3;

/// `forward` is a layer's, `parameters` are its.
void layer_line(const std::string& name, const std::function<Tensor(const Tensor&)>& forward, Tensors parameters) {
  const Tensor x = at::randn({kBatch, kTokens, kDim}).requires_grad_();
  parameters.push_back(x);
  const auto call = [&] { step({forward(x)}, parameters); };
  const double time = analysis::quartiles(in_turns({call}, kSteps)[0]).median;
  const analysis::LiveMemory memory;
  call();
  std::cout << name << '\t' << number(time, 1) << '\t' << number(mebibytes(memory.peak_bytes()), 1) << std::endl;
}

void attention_line(const Function& f) {
  nn::AttentionOptions attention;
  attention.function = f.options;
  nn::MultiHeadAttention layer({kDim, kHeads, attention});
  layer_line(
      f.name, [&](const Tensor& x) { return layer.forward(x, x, {}); }, layer.parameters());
}

void encoder_line(const Function& f) {
  nn::PlugIns plug_ins;
  plug_ins.attention.function = f.options;
  nn::TransformerBlockOptions options;
  options.dim = kDim;
  options.num_heads = kHeads;
  options.tokens = kTokens;
  nn::TransformerBlock layer(options, plug_ins);
  layer_line(
      f.name, [&](const Tensor& x) { return layer.forward(x, {}); }, layer.parameters());
}

}  // namespace
}  // namespace cachet::benchmarks

int main(int count, char** arguments) {
  using namespace cachet::benchmarks;
  const auto asked = [&](const char* option) { return count > 1 && std::strcmp(arguments[1], option) == 0; };
  const bool attention = asked("--attention"), encoder = asked("--encoder"), quick = asked("--quick");
  const std::string pattern = count > 2 ? arguments[2] : "*";
  at::set_num_threads(kThreads);
  if (!attention && !encoder) return length_table(quick, pattern), 0;
  for (const Function& f : functions())
    if (cachet::config::glob_matches(pattern, f.name)) attention ? attention_line(f) : encoder_line(f);
}
