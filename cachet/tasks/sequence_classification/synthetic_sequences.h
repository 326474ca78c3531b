#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// Returns `count` sequences of noise, the same in each call. The lengths of the sequences alternate between the
/// model's length and half of it. If the model takes pairs of sequences, returns pairs.
std::shared_ptr<const data::SequenceDataset> synthetic_sequences(const models::SequenceClassifierPlan& model,
                                                                 int64_t count);

}  // namespace cachet::tasks
