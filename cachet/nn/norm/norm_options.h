#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/ops/power_norm.h"
#include "cachet/ops/unified_norm.h"

namespace cachet::nn {

/// (x − mean)/√(variance + ε) over each token's channels (Ba et al., arXiv 1607.06450).
struct LayerNormOptions {
  std::optional<double> eps{};  // unset: the model's own, 1e-6 in vision transformers
};

/// x/√(mean of x² + ε) over each token's channels, weight without bias (Zhang & Sennrich, arXiv 1910.07467).
struct RMSNormOptions {
  std::optional<double> eps{};
};

/// Per channel over all tokens of a batch, running averages at inference (Ioffe & Szegedy, arXiv 1502.03167).
struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  // weight of the new batch in the running averages
};

enum class UnifiedNormVariant { paper, official };

/// Unified normalization (arXiv 2208.01313); `ops::UnifiedNormSettings` says what each number is.
struct UnifiedNormOptions {
  UnifiedNormVariant variant = UnifiedNormVariant::paper;
  ops::UnifiedNormSettings settings{};
};

/// Moving average batch normalization (Yan et al., arXiv 2001.06838), as the code of unified normalization has it:
/// ops::UnifiedNormSettings with an arithmetic window, r in the forward pass, no momentum backward, no filter.
struct MovingAverageBatchNormOptions {
  int64_t window = 16;     // steps in both means
  double momentum = 0.98;  // α of the running statistic
  double eps = 1e-5;
  int64_t warmup = 100;  // steps on the batch's own statistic
};

/// Power normalization (Shen et al., arXiv 2003.07845); without group scaling it is the PN* of arXiv 2208.01313.
struct PowerNormOptions {
  ops::PowerNormSettings settings{};
  bool group_scaling = true;  // x / √(mean of x² over a token's channels + ε) first, at inference too
};

/// x as it is.
struct NoNormOptions {};

using NormOptions = std::variant<LayerNormOptions, RMSNormOptions, BatchNormOptions, UnifiedNormOptions,
                                 MovingAverageBatchNormOptions, PowerNormOptions, NoNormOptions>;

/// What the operator behind a UN or MABN layer is asked for.
ops::UnifiedNormSettings unified_norm_settings(const UnifiedNormOptions& options);
ops::UnifiedNormSettings unified_norm_settings(const MovingAverageBatchNormOptions& options);

/// Reads a `norm` table: kind = "layer" | "rms" | "batch" | "un" | "mabn" | "pn" | "none", and that kind's options.
NormOptions read_norm_options(const config::View& table);

/// default_eps: what LayerNorm and RMSNorm use when their options leave it open.
std::shared_ptr<Norm> make_norm(const NormOptions& options, int64_t channels, double default_eps = 1e-6);

}  // namespace cachet::nn
