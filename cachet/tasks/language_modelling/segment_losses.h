#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "cachet/models/language/language_model.h"
#include "cachet/tasks/abilities.h"

namespace cachet::tasks {

/// What an evaluation sums up of a segment of each lane: −log p of the tokens that were foretold, in nats, and how many
/// these are, by their place in the segment (over the lanes) and by lane (over the places).
struct SegmentLosses {
  std::vector<double> by_place{}, by_batch_row{};
  std::vector<int64_t> tokens_by_place{}, tokens_by_batch_row{};
  bool operator==(const SegmentLosses&) const = default;
};

/// −log p (lanes, L) of targets (lanes, L) in an evaluation. Throws ops::NotFinite for a model that gives NaN or
/// infinities.
at::Tensor losses_of(models::LanguageModel& model, const at::Tensor& ids, const at::Tensor& targets,
                     models::LanguageSession& session);

/// losses and targets (lanes, L); target −1 does not count. Summed token by token, so that the bits do not depend on
/// threads.
SegmentLosses segment_losses(const at::Tensor& losses, const at::Tensor& targets);

/// {"index":0,"loss_by_place":[…],"tokens_by_place":[…],"loss_by_lane":[…],"tokens_by_lane":[…]}; `index` is the number
/// of the segment. What is read back has the same bits.
Record segment_record(const SegmentLosses& losses, int64_t index);
/// Throws std::runtime_error unless it is such a record, of that number and of so many lanes.
SegmentLosses segment_from_record(const Record& record, int64_t index, int64_t batch_rows);

}  // namespace cachet::tasks
