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

/// Draws `fraction` of the samples of each stratum, using the seed. strata[i] is the stratum of sample i, such as its
/// class. If a stratum has several samples, at least one of them is drawn and at least one is not drawn. If a sample is
/// the only one of its stratum, it is not drawn. If every stratum has only one sample, the function draws from all
/// samples, without strata. Throws std::invalid_argument for fewer than two samples.
HeldOut hold_out(std::span<const int64_t> strata, double fraction, uint64_t seed);

/// Returns a digest of the indices of the validation samples.
std::string digest_of_indices(std::span<const int64_t> indices);

}  // namespace cachet::data
