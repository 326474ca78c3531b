#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// Validation samples drawn from the training data, and the remaining training samples, both in their original order.
struct HeldOut {
  std::vector<int64_t> training, validation;
};

/// Draws `fraction` of the samples of each stratum, using the seed. `strata`: the stratum of each sample, such as its
/// class. If a stratum has several samples, at least one is drawn and one remains. Samples alone in their strata
/// remain; if all samples are alone, draws from all. Throws std::invalid_argument for fewer than two samples.
HeldOut hold_out(std::span<const int64_t> strata, double fraction, uint64_t seed);

/// Returns a digest of the indices of the validation samples.
std::string digest_of_indices(std::span<const int64_t> indices);

}  // namespace cachet::data
