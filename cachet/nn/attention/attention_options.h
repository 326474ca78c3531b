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

/// Returns all kinds: the library's, then those that the program registered.
std::span<const AttentionFunctionRow* const> attention_function_kinds();

/// Adds a kind before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_attention(AttentionFunctionRow row);

/// Adds a kind from a record like those of the library's kinds.
template <class Options>
void register_attention(const AttentionFunctionKind<Options>& kind) {
  register_attention({std::string(kind.name), [kind](const config::View& table) -> AttentionFunctionOptions {
                        return chosen_attention_function(kind, kind.read(table));
                      }});
}

/// Returns the options and the record of their kind.
ChosenAttentionFunction chosen_attention_function(const AttentionFunctionOptions& options);

/// Returns why no token can attend to earlier tokens only with this function. Empty if every token can: a token's
/// result then depends neither on later tokens nor on their number.
std::string why_not_causal(const AttentionFunctionOptions& options);

/// Returns why a decoder (token by token) cannot attend to its encoder with this function. Empty if it can.
std::string why_not_across(const AttentionFunctionOptions& options);

/// Whether queries and keys must be one projection of the tokens.
bool shares_query_and_key(const AttentionFunctionOptions& options);

/// An attention function and its projections.
struct AttentionOptions {
  AttentionFunctionOptions function = {};
  bool qkv_bias = true, projection_bias = true;  // of the projections to heads, of the output projection
  int64_t head_dim = 0;  // channels of a head; 0: the tokens' channels divided by the number of heads
  double projection_dropout = 0.0;
};

/// Reads an `attention` table: kind (a name of attention_function_kinds()), that kind's options, and those of the
/// projections. The defaults of the projections are those of the published backbone. The function comes only from
/// the table: softmax if it names none.
AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults = {});

/// `head_dim`: the channels of a query in one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
