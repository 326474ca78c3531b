#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// The validation samples that are drawn from training data, and the remaining training samples, both in their order.
struct HeldOut {
  std::vector<int64_t> training, validation;
};

/// Draws `fraction` of the samples of each stratum by the seed. `strata`: the stratum of each sample, such as its
/// class. Of a stratum of two or more, at least one is drawn and one stays. Samples alone in their stratum stay; if all
/// are, the fraction is drawn from all samples. Throws std::invalid_argument for fewer than two samples.
HeldOut hold_out(std::span<const int64_t> strata, double fraction, uint64_t seed);

/// Returns a digest of the indices of the validation samples.
std::string digest_of_indices(std::span<const int64_t> indices);

}  // namespace cachet::data
