#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// Returns `count` sequences of noise, the same in each call. Their lengths alternate between the model's length and
/// half of it. Returns pairs of sequences if the model takes pairs.
std::shared_ptr<const data::SequenceDataset> synthetic_sequences(const models::SequenceClassifierPlan& model,
                                                                 int64_t count);

}  // namespace cachet::tasks
