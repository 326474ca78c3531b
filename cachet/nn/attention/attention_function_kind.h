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

/// The properties of a kind of attention function, as models need them.
struct AttentionTraits {
  bool shares_query_and_key = false;  // one projection of the tokens makes both queries and keys
  bool sums_past = false;             // a decoding session is a sum of fixed size over all earlier tokens
  bool takes_bias = false;            // adds AttentionArgs::bias to the score of each pair
  bool chooses_by_query = false;      // a query's keys depend on its position and on the number of queries
  std::string_view causal_with = {};  // a causal setting, if the kind's defaults are not causal: "features = \"relu\""
};

/// The record of a kind of attention function: everything that the library looks up by the kind's name. The record
/// is declared with the function, as the static member kKind of the kind's options.
template <class Options>
struct AttentionFunctionKind {
  std::string_view name;                       // name in recipes
  Options (*read)(const config::View& table);  // the kind's own keys of an `attention` table
  /// Makes the function. `head_dim`: number of channels of a query in one head.
  std::shared_ptr<AttentionFunction> (*make)(const Options& options, int64_t num_heads, int64_t head_dim);
  AttentionTraits traits{};
  Export exports = Export::refused;
  /// Returns the reason, without advice, why a token cannot attend to earlier tokens only; empty if every token can.
  /// The pointer is null if every token can with any options.
  std::string (*why_not_causal)(const Options& options) = nullptr;
  /// Returns the misfit if heads of this number of channels do not fit. The pointer is null if all numbers fit.
  std::optional<Misfit> (*misfit)(const Options& options, int64_t head_dim) = nullptr;
};

/// A kind with its options. As an alternative of the variant AttentionFunctionOptions, it stands for a kind
/// that a program registered.
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

/// The ranges of values for recipe keys that several kinds have.
struct AttentionRanges {
  static constexpr config::Range<double> kDropout{0.0, 0.99};
  static constexpr config::Range<double> kEps{0.0, 1.0};
  static constexpr config::Range<int64_t> kBlockSize{1, 1 << 14};
};

/// The function why_not_causal in the record of a kind that has no causal form.
template <class Options>
std::string no_causal_form(const Options& /*options*/) {
  return "has no causal form";
}

}  // namespace cachet::nn
