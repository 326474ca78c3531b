#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "cachet/config/view.h"
#include "cachet/nn/kind_table.h"
#include "cachet/nn/norm/batch_norm.h"
#include "cachet/nn/norm/group_norm.h"
#include "cachet/nn/norm/layer_norm.h"
#include "cachet/nn/norm/no_norm.h"
#include "cachet/nn/norm/norm.h"
#include "cachet/nn/norm/norm_kind.h"
#include "cachet/nn/norm/power_norm.h"
#include "cachet/nn/norm/rms_norm.h"
#include "cachet/nn/norm/unified_norm.h"

namespace cachet::nn {

/// The options of a norm of any kind. Messages list the kinds of norms in the variant's order. A kind's options have a
/// record kKind: its name, reader, factory and traits. ChosenNorm stands for kinds that a program registered.
using NormOptions = std::variant<LayerNormOptions,               //
                                 RMSNormOptions,                 //
                                 BatchNormOptions,               //
                                 UnifiedNormOptions,             //
                                 MovingAverageBatchNormOptions,  //
                                 PowerNormOptions,               //
                                 GroupNormOptions,               //
                                 InstanceNormOptions,            //
                                 NoNormOptions,                  //
                                 ChosenNorm>;

using NormRow = KindRow<NormOptions>;

/// Returns all kinds of norms: first the kinds of the library, then the kinds that the program registered.
std::span<const NormRow* const> norm_kinds();

/// Registers a kind of norm. Call register_norm() before any recipe is read. Throws std::invalid_argument if another
/// kind already has the name.
void register_norm(NormRow row);

/// Registers a kind of norm from its record, which has the same form as the records of the library's kinds.
template <class Options>
void register_norm(const NormKind<Options>& kind) {
  register_norm({std::string(kind.name),
                 [kind](const config::View& table) -> NormOptions { return chosen_norm(kind, kind.read(table)); }});
}

/// Returns the options of a norm together with the record of its kind (NormKind).
ChosenNorm chosen_norm(const NormOptions& options);

/// Returns the reason why a norm cannot be used in a causal model, in which no token may depend on later tokens.
/// Returns an empty string if a causal model can use the norm.
std::string why_norm_not_causal(const NormOptions& options);

/// Reads a `norm` table: kind (a name of norm_kinds()) and that kind's options.
NormOptions read_norm_options(const config::View& table);

/// Makes a norm. `default_eps`: eps of LayerNorm and RMSNorm if the options do not set it.
std::shared_ptr<Norm> make_norm(const NormOptions& options, int64_t channels, double default_eps = 1e-6);

}  // namespace cachet::nn
