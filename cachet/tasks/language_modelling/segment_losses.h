#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/models/language/language_model.h"
#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// Two sums over a segment of each batch row: −log p of the predicted tokens, in nats, and the number of these tokens.
/// Each of the two sums is stored for each position in the segment (summed over the batch rows) and for each batch row
/// (summed over the positions).
struct SegmentLosses {
  std::vector<double> by_place{}, by_batch_row{};
  std::vector<int64_t> tokens_by_place{}, tokens_by_batch_row{};
  bool operator==(const SegmentLosses&) const = default;
};

/// Sums losses (rows, L) of targets (rows, L); targets of −1 do not count. Sums the losses in the order of the tokens,
/// so that the bits of the sums do not depend on the number of threads.
SegmentLosses segment_losses(const at::Tensor& losses, const at::Tensor& targets);

/// Returns {"index":0,"loss_by_place":[…],"tokens_by_place":[…],"loss_by_lane":[…],"tokens_by_lane":[…]}. `index` is
/// the number of the segment. When a record is read, its values have exactly the bits with which they were written.
Record segment_record(const SegmentLosses& losses, int64_t index);
/// Reads a record of segment_record(). Throws std::runtime_error if the text of the record is invalid, or if its index
/// or number of batch rows differs from the argument.
SegmentLosses segment_from_record(const Record& record, int64_t index, int64_t batch_rows);

}  // namespace cachet::tasks
