#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/plug_in.h"

namespace cachet::nn {

/// The properties of a kind of attention function that models need to know.
struct AttentionTraits {
  bool shares_query_and_key = false;  // queries and keys are one projection of the tokens
  bool sums_past = false;             // the state of a decoding session is a sum over all earlier tokens, of fixed size
  bool takes_bias = false;            // adds AttentionArgs::bias to the score of each pair
  bool chooses_by_query = false;      // the choice of a query's keys depends on its position and the number of queries
  std::string_view causal_with = {};  // a setting that makes the kind causal, if it needs one: "features = \"relu\""
};

/// The record of a kind of attention function: all facts that the library looks up by the kind's name. The record is
/// the static member kKind of the kind's options, in the header that declares the attention function.
template <class Options>
struct AttentionFunctionKind {
  std::string_view name;                       // name in recipes
  Options (*read)(const config::View& table);  // reads the kind's own keys of an `attention` table
  /// Makes the function. `head_dim`: number of channels of one head.
  std::shared_ptr<AttentionFunction> (*make)(const Options& options, int64_t num_heads, int64_t head_dim);
  AttentionTraits traits{};
  Export exports = Export::refused;
  /// Returns the reason, without advice, why these options forbid a causal layout (in which tokens attend only to
  /// earlier tokens). The reason is empty if a causal layout is possible. `why_not_causal` is null if a causal layout
  /// is possible with all options.
  std::string (*why_not_causal)(const Options& options) = nullptr;
  /// If the options do not fit heads with `head_dim` channels, returns the recipe key at fault and the reason. `misfit`
  /// is null if the options fit heads of any size.
  std::optional<Misfit> (*misfit)(const Options& options, int64_t head_dim) = nullptr;
};

/// A registered kind of attention function together with chosen options. In the variant AttentionFunctionOptions,
/// ChosenAttentionFunction is the type for all kinds that a program registers.
struct ChosenAttentionFunction {
  std::string kind;
  std::function<std::shared_ptr<AttentionFunction>(int64_t num_heads, int64_t head_dim)> make;
  std::function<std::optional<Misfit>(int64_t head_dim)> misfit;
  AttentionTraits traits;
  std::string why_not_causal;
};

template <class Options>
ChosenAttentionFunction chosen_attention_function(const AttentionFunctionKind<Options>& kind, const Options& options) {
  return {std::string(kind.name),
          [kind, options](int64_t num_heads, int64_t head_dim) {
            return marked(kind.make(options, num_heads, head_dim), kind.exports, "attention function", kind.name);
          },
          [kind, options](int64_t head_dim) {
            return kind.misfit ? kind.misfit(options, head_dim) : std::optional<Misfit>();
          },
          kind.traits, kind.why_not_causal ? kind.why_not_causal(options) : std::string()};
}

/// The allowed ranges of recipe keys that occur in several kinds of attention functions.
struct AttentionRanges {
  static constexpr config::Range<double> kDropout{0.0, 0.99};
  static constexpr config::Range<double> kEps{0.0, 1.0};
  static constexpr config::Range<int64_t> kBlockSize{1, 1 << 14};
};

/// The member why_not_causal of kinds of attention functions that have no causal form for any options. Returns the
/// reason why a causal layout is impossible.
template <class Options>
std::string no_causal_form(const Options& /*options*/) {
  return "has no causal form";
}

}  // namespace cachet::nn
