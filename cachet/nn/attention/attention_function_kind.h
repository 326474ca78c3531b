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

/// What models ask of a kind of attention function.
struct AttentionTraits {
  bool shares_query_and_key = false;  // one projection of the tokens makes both
  bool sums_past = false;             // a decoding session is a sum of fixed size over all earlier tokens
  bool takes_bias = false;            // adds AttentionArgs::bias to the score of each pair
  bool chooses_by_query = false;  // which keys a query meets depends on its position and on how many queries there are
  std::string_view causal_with = {};  // if its defaults are not causal, the setting that is: "features = \"relu\""
};

/// The record of a kind of attention function: all that the library asks about it by name. It is next to the
/// function, as the static member kKind of the kind's options.
template <class Options>
struct AttentionFunctionKind {
  std::string_view name;                       // as recipes write it
  Options (*read)(const config::View& table);  // the kind's own keys of an `attention` table
  /// head_dim: channels of a query in one head.
  std::shared_ptr<AttentionFunction> (*make)(const Options& options, int64_t num_heads, int64_t head_dim);
  AttentionTraits traits{};
  Export exports = Export::refused;
  /// Why no token can attend to those before it alone, without what to use instead; empty if each can. Null: each can,
  /// whatever the options.
  std::string (*why_not_causal)(const Options& options) = nullptr;
  /// What does not fit heads of so many channels; null: nothing.
  std::optional<Misfit> (*misfit)(const Options& options, int64_t head_dim) = nullptr;
};

/// A kind and its options together. As an alternative of AttentionFunctionOptions, the function of a kind that a
/// program registered.
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

/// Ranges of keys that several kinds have.
struct AttentionRanges {
  static constexpr config::Range<double> kDropout{0.0, 0.99};
  static constexpr config::Range<double> kEps{0.0, 1.0};
  static constexpr config::Range<int64_t> kBlockSize{1, 1 << 14};
};

/// For the record of a kind that has no causal form.
template <class Options>
std::string no_causal_form(const Options& /*options*/) {
  return "has no causal form";
}

}  // namespace cachet::nn
