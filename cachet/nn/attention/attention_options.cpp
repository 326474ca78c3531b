#include "cachet/nn/attention/attention_options.h"

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cachet/config/document.h"

namespace cachet::nn {
namespace {

KindTable<AttentionFunctionOptions>& function_table() {
  static KindTable<AttentionFunctionOptions> table;
  return table;
}

// Each kind with its defaults.
std::vector<ChosenAttentionFunction> all_functions() {
  auto nothing_written = config::Document::from_text("", "defaults");
  std::vector<ChosenAttentionFunction> all;
  for (const AttentionFunctionRow* row : attention_function_kinds())
    all.push_back(chosen_attention_function(row->read(nothing_written.root())));
  return all;
}

// "softmax, elu or kernel"
std::string listed(const std::vector<std::string>& words, const std::string& before_last) {
  std::string list = words.front();
  for (size_t i = 1; i < words.size(); ++i) list += (i + 1 < words.size() ? ", " : before_last) + words[i];
  return list;
}

}  // namespace

std::string causal_forms() {
  std::vector<std::string> words, with_settings;
  for (const ChosenAttentionFunction& function : all_functions())
    if (function.why_not_causal.empty())
      words.push_back(function.kind);
    else if (!function.traits.causal_with.empty())
      with_settings.push_back(function.kind + " with " + std::string(function.traits.causal_with));
  words.insert(words.end(), with_settings.begin(), with_settings.end());
  return "use " + listed(words, ", or ");
}

std::span<const AttentionFunctionRow* const> attention_function_kinds() { return function_table().rows(); }

void register_attention(AttentionFunctionRow row) { function_table().add("attention function", std::move(row)); }

ChosenAttentionFunction chosen_attention_function(const AttentionFunctionOptions& options) {
  return std::visit(
      []<class Options>(const Options& o) -> ChosenAttentionFunction {
        if constexpr (std::is_same_v<Options, ChosenAttentionFunction>)
          return o;
        else
          return chosen_attention_function(Options::kKind, o);
      },
      options);
}

std::string why_not_causal(const AttentionFunctionOptions& options) {
  const std::string why = chosen_attention_function(options).why_not_causal;
  return why.empty() ? why : why + "; " + causal_forms();
}

std::string why_not_across(const AttentionFunctionOptions& options) {
  if (!chosen_attention_function(options).traits.chooses_by_query) return "";
  std::vector<std::string> words;
  for (const ChosenAttentionFunction& function : all_functions())
    if (!function.traits.chooses_by_query) words.push_back(function.kind);
  return "chooses keys by the positions and the number of all queries, but a decoder that generates token by token "
         "does not know later queries; use " +
         listed(words, " or ");
}

bool shares_query_and_key(const AttentionFunctionOptions& options) {
  return chosen_attention_function(options).traits.shares_query_and_key;
}

AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults) {
  AttentionOptions options;
  options.function = function_table().read(table);
  options.qkv_bias = table.boolean("qkv_bias", defaults.qkv_bias);
  options.projection_bias = table.boolean("projection_bias", defaults.projection_bias);
  options.head_dim = table.integer("head_dim", defaults.head_dim, {0, 4096});
  options.projection_dropout = table.real("projection_dropout", defaults.projection_dropout, AttentionRanges::kDropout);
  return options;
}

std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim) {
  return chosen_attention_function(options).make(num_heads, head_dim);
}

}  // namespace cachet::nn
