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

/// The options of a norm of any kind. Messages list the kinds in this order. A kind's record (kKind of its options)
/// has its name, reader, factory and traits. ChosenNorm is for kinds that a program registered.
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

/// Returns all kinds: the kinds of the library, followed by the kinds that the program registered.
std::span<const NormRow* const> norm_kinds();

/// Adds a kind; call it before any recipe is read. Throws std::invalid_argument if the name is taken.
void register_norm(NormRow row);

/// Adds a kind from its record. The record has the same form as the records of the library's kinds.
template <class Options>
void register_norm(const NormKind<Options>& kind) {
  register_norm({std::string(kind.name),
                 [kind](const config::View& table) -> NormOptions { return chosen_norm(kind, kind.read(table)); }});
}

/// Returns the options together with the record of their kind.
ChosenNorm chosen_norm(const NormOptions& options);

/// Returns why this norm cannot be used if no token may depend on later tokens. Empty if it can be used.
std::string why_norm_not_causal(const NormOptions& options);

/// Reads a `norm` table: kind (a name of norm_kinds()) and that kind's options.
NormOptions read_norm_options(const config::View& table);

/// Makes a norm. `default_eps`: eps of LayerNorm and RMSNorm if the options do not set it.
std::shared_ptr<Norm> make_norm(const NormOptions& options, int64_t channels, double default_eps = 1e-6);

}  // namespace cachet::nn
