#pragma once

#include "cachet/data/text/parallel/parallel_loader.h"

namespace cachet::tasks {

/// The limits of micro-batches of sentence pairs. `processes` processes divide the pairs of each micro-batch.
struct PairLimits {
  int64_t max_tokens = 0;   // tokens on each side, with padding
  int64_t max_samples = 0;  // pairs; 0 = no limit
  int64_t processes = 1;
  int64_t source_length = 0;  // longest source that the model reads
  int64_t target_length = 0;  // longest target that the model reads
};

/// Pads a process's part of a micro-batch, so that few shapes occur and recorded steps are replayed more often. The
/// padding is masked, and additional pairs have no targets, so that losses and gradients change only by rounding.
///
/// The rule: L is the length of the longer side. If the micro-batch has room, L is rounded up to a multiple of 8. Both
/// sides are padded to L, or to the model's longest length, if this is smaller. The number of pairs is padded to the
/// largest number of pairs of length L in a process's part that the limits allow. So no side gets more than max_tokens
/// tokens, and there is at most one shape for each L.
data::ParallelBatch rounded_pairs(data::ParallelBatch batch, const PairLimits& limits);

}  // namespace cachet::tasks
