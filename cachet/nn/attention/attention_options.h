#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/attention/attention.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/attention/attention_function_kind.h"
#include "cachet/nn/attention/functions/block_sparse_attention.h"
#include "cachet/nn/attention/functions/kernel_attention.h"
#include "cachet/nn/attention/functions/local_attention.h"
#include "cachet/nn/attention/functions/lsh_attention.h"
#include "cachet/nn/attention/functions/performer_attention.h"
#include "cachet/nn/attention/functions/softmax_attention.h"
#include "cachet/nn/kind_table.h"

namespace cachet::nn {

/// The table of attention functions: the options of each kind, in the order in which messages list the kinds. The
/// record of a kind (kKind of its options) has its name, reader, factory and traits. ChosenAttentionFunction is
/// for kinds that a program registered.
using AttentionFunctionOptions = std::variant<SoftmaxOptions,    //
                                              EluOptions,        //
                                              KernelOptions,     //
                                              PerformerOptions,  //
                                              BigBirdOptions,    //
                                              LshOptions,        //
                                              LocalOptions,      //
                                              ChosenAttentionFunction>;

using AttentionFunctionRow = KindRow<AttentionFunctionOptions>;

/// Returns all kinds: first the library's kinds, then the kinds that the program registered.
std::span<const AttentionFunctionRow* const> attention_function_kinds();

/// Adds a kind; call it before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_attention(AttentionFunctionRow row);

/// Adds a kind from its record, which has the same form as the records of the library's kinds.
template <class Options>
void register_attention(const AttentionFunctionKind<Options>& kind) {
  register_attention({std::string(kind.name), [kind](const config::View& table) -> AttentionFunctionOptions {
                        return chosen_attention_function(kind, kind.read(table));
                      }});
}

/// Returns the options together with the record of their kind.
ChosenAttentionFunction chosen_attention_function(const AttentionFunctionOptions& options);

/// Returns why this function cannot limit attention to earlier tokens. Empty if it can: the result of a token then
/// depends neither on later tokens nor on their number.
std::string why_not_causal(const AttentionFunctionOptions& options);

/// Returns why a decoder that runs token by token cannot attend to its encoder with this function. Empty if it can.
std::string why_not_across(const AttentionFunctionOptions& options);

/// Whether queries and keys must come from one projection of the tokens.
bool shares_query_and_key(const AttentionFunctionOptions& options);

/// An attention function and its projections.
struct AttentionOptions {
  AttentionFunctionOptions function = {};
  bool qkv_bias = true, projection_bias = true;  // bias of the projections to heads; bias of the output projection
  int64_t head_dim = 0;  // channels of a head; 0: the tokens' channels divided by the number of heads
  double projection_dropout = 0.0;
};

/// Reads an `attention` table: kind (a name of attention_function_kinds()), that kind's options, and the options of the
/// projections. `defaults`: the projections of the published backbone. The function comes only from the
/// table: softmax if the table has no kind.
AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults = {});

/// Makes the attention function. `head_dim`: number of channels of a query in one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
