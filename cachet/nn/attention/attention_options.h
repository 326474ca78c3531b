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

/// The options of an attention function of any kind. Messages list the kinds of attention functions in the order of
/// this std::variant. Each kind of attention function has a record (kKind of its options): name, reader, factory and
/// traits. The type ChosenAttentionFunction is for kinds of attention functions that a program registered.
using AttentionFunctionOptions = std::variant<SoftmaxOptions,    //
                                              EluOptions,        //
                                              KernelOptions,     //
                                              PerformerOptions,  //
                                              BigBirdOptions,    //
                                              LshOptions,        //
                                              LocalOptions,      //
                                              ChosenAttentionFunction>;

using AttentionFunctionRow = KindRow<AttentionFunctionOptions>;

/// Returns all kinds of attention functions: the kinds of the library, followed by the kinds that the program
/// registered.
std::span<const AttentionFunctionRow* const> attention_function_kinds();

/// Adds a kind of attention function. Call register_attention() before any recipe is read. Throws std::invalid_argument
/// if the name is taken.
void register_attention(AttentionFunctionRow row);

/// Registers a kind of attention function, which its record `kind` describes. The record of a kind that a program adds
/// has the same form as the records of the library's own kinds.
template <class Options>
void register_attention(const AttentionFunctionKind<Options>& kind) {
  register_attention({std::string(kind.name), [kind](const config::View& table) -> AttentionFunctionOptions {
                        return chosen_attention_function(kind, kind.read(table));
                      }});
}

/// Returns the options of an attention function together with the record of their kind (AttentionFunctionKind).
ChosenAttentionFunction chosen_attention_function(const AttentionFunctionOptions& options);

/// Returns why the attention function of `options` cannot limit attention to earlier tokens. If the function can limit
/// attention to earlier tokens, returns an empty text; the result of a token then depends neither on later tokens nor
/// on their number.
std::string why_not_causal(const AttentionFunctionOptions& options);

/// Returns why a decoder that runs token by token cannot use the attention function of `options` to attend to its
/// encoder. Returns an empty text if the decoder can use the attention function.
std::string why_not_across(const AttentionFunctionOptions& options);

/// Whether queries and keys must come from one projection of the tokens.
bool shares_query_and_key(const AttentionFunctionOptions& options);

/// The attention function of a layer, and the options of its projections.
struct AttentionOptions {
  AttentionFunctionOptions function = {};
  bool qkv_bias = true, projection_bias = true;  // bias of the projections to heads; bias of the output projection
  int64_t head_dim = 0;  // channels of a head; 0: the channels of a token, divided by the number of heads
  double projection_dropout = 0.0;
};

/// Reads an `attention` table: kind (a name of attention_function_kinds()), that kind's options, and the options of the
/// projections. `defaults` has the options of the projections in the published backbone. The attention function of
/// `defaults` is not used: a table without a kind selects softmax.
AttentionOptions read_attention_options(const config::View& table, const AttentionOptions& defaults = {});

/// Makes the attention function. `head_dim`: number of channels of one head.
std::shared_ptr<AttentionFunction> make_attention_function(const AttentionFunctionOptions& options, int64_t num_heads,
                                                           int64_t head_dim);

}  // namespace cachet::nn
