#pragma once

#include <cstdint>
#include <memory>

#include "cachet/data/text/sequences/sequence_dataset.h"
#include "cachet/models/registry.h"

namespace cachet::tasks {

/// `count` sequences of noise, as long as a model takes them, or half as long by turns; pairs where it takes pairs. The
/// same each time.
std::shared_ptr<const data::SequenceDataset> synthetic_sequences(const models::SequenceClassifierPlan& model,
                                                                 int64_t count);

}  // namespace cachet::tasks
