#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cachet/config/view.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/nn/plug_in.h"

namespace cachet::nn {

/// The set of values from which a norm computes its statistics in training.
enum class NormStatistics {
  none,    // no statistics
  token,   // the channels of each token
  sample,  // the tokens of one sample
  batch,   // the tokens of all samples; evaluation uses a running statistic
};

/// The record of a kind of norm: all facts that the library looks up by the kind's name. The record is the static
/// member kKind of the kind's options, in the header that declares the norm.
template <class Options>
struct NormKind {
  std::string_view name;                       // name in recipes
  Options (*read)(const config::View& table);  // reads the kind's own keys of a `norm` table
  /// Makes the norm. `default_eps`: the model's default eps, for options that do not set eps.
  std::shared_ptr<Norm> (*make)(const Options& options, int64_t channels, double default_eps);
  NormStatistics statistics = NormStatistics::token;
  Export exports = Export::refused;
  /// If layers with `channels` channels do not fit, returns the recipe key at fault and the reason (Misfit).
  /// `misfit` is null if the norm fits layers with any number of channels.
  std::optional<Misfit> (*misfit)(const Options& options, int64_t channels) = nullptr;
};

/// A registered kind of norm together with chosen options. In the variant NormOptions, ChosenNorm is the type for all
/// kinds that a program registers.
struct ChosenNorm {
  std::string kind;
  std::function<std::shared_ptr<Norm>(int64_t channels, double default_eps)> make;
  std::function<std::optional<Misfit>(int64_t channels)> misfit;
  NormStatistics statistics;
};

template <class Options>
ChosenNorm chosen_norm(const NormKind<Options>& kind, const Options& options) {
  return {std::string(kind.name),
          [kind, options](int64_t channels, double default_eps) {
            return marked(kind.make(options, channels, default_eps), kind.exports, "norm", kind.name);
          },
          [kind, options](int64_t channels) {
            return kind.misfit ? kind.misfit(options, channels) : std::optional<Misfit>();
          },
          kind.statistics};
}

/// The allowed ranges of recipe keys that occur in several kinds of norms.
struct NormRanges {
  // In float32, an eps far below 1e-30 would be 0, and a token whose channels are all equal would be divided by 0.
  static constexpr config::Range<double> kEps{1e-30, 1.0};
  static constexpr config::Range<double> kMomentum{0.0, 1.0};
  static constexpr config::Range<int64_t> kWarmup{0, 1'000'000'000};
};

/// Reads `warmup`: a number of updates that use the batch's own statistic, or a fraction of the updates of a run.
config::CountOrFraction read_warmup(const config::View& table, int64_t default_count);

/// Reads `eps`. Returns an empty value if the table has no `eps`. The model's default then applies.
std::optional<double> read_open_eps(const config::View& table);

}  // namespace cachet::nn
