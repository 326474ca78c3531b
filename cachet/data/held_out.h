#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace cachet::data {

/// The samples of training data that validate, and those that are left to train on, both in their order.
struct HeldOut {
  std::vector<int64_t> training, validation;
};

/// Draws `fraction` of the samples of each stratum by the seed. `strata`: of each sample, such as its class. At least
/// one sample is drawn of a stratum that has two, and at least one stays. Samples that are alone in their stratum stay;
/// if all are, the fraction is drawn of all samples together. Throws std::invalid_argument for fewer than two samples.
HeldOut hold_out(std::span<const int64_t> strata, double fraction, uint64_t seed);

/// A digest of the numbers of the samples that validate.
std::string digest_of_indices(std::span<const int64_t> indices);

}  // namespace cachet::data
