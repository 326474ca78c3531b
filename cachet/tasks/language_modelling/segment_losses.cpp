#include "cachet/tasks/language_modelling/segment_losses.h"

#include <ATen/TensorOperators.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "cachet/ops/support/finite.h"
#include "cachet/tasks/samples/read_record.h"

namespace cachet::tasks {

SegmentLosses segment_losses(const at::Tensor& losses, const at::Tensor& targets) {
  const at::Tensor values = losses.to(at::kCPU, at::kDouble).contiguous();
  const at::Tensor ids = targets.to(at::kCPU).contiguous();
  const int64_t batch_rows = ids.size(0), length = ids.size(1);
  const auto place_count = static_cast<size_t>(length), batch_row_count = static_cast<size_t>(batch_rows);
  SegmentLosses sums{std::vector<double>(place_count), std::vector<double>(batch_row_count),
                     std::vector<int64_t>(place_count), std::vector<int64_t>(batch_row_count)};
  const auto* value = values.const_data_ptr<double>();
  const auto* id = ids.const_data_ptr<int64_t>();
  for (size_t batch_row = 0; batch_row < batch_row_count; ++batch_row) {
    for (size_t place = 0; place < place_count; ++place, ++value, ++id) {
      sums.by_place[place] += *value;
      sums.by_batch_row[batch_row] += *value;
      sums.tokens_by_place[place] += *id == -1 ? 0 : 1;
      sums.tokens_by_batch_row[batch_row] += *id == -1 ? 0 : 1;
    }
  }
  return sums;
}

Record segment_record(const SegmentLosses& losses, int64_t index) {
  return nlohmann::ordered_json{{"index", index},
                                {"loss_by_place", losses.by_place},
                                {"tokens_by_place", losses.tokens_by_place},
                                {"loss_by_lane", losses.by_batch_row},
                                {"tokens_by_lane", losses.tokens_by_batch_row}}
             .dump() +
         "\n";
}

SegmentLosses segment_from_record(const Record& record, int64_t index, int64_t batch_rows) {
  constexpr int64_t kMaxTokens = int64_t{1} << 40;  // whose sums are numbers yet
  const ReadRecord values(record, index);
  SegmentLosses losses{values.numbers("loss_by_place"), values.numbers("loss_by_lane"),
                       values.integers("tokens_by_place", kMaxTokens), values.integers("tokens_by_lane", kMaxTokens)};
  const auto batch_row_count = static_cast<size_t>(batch_rows);
  if (losses.by_place.size() != losses.tokens_by_place.size() || losses.by_batch_row.size() != batch_row_count ||
      losses.tokens_by_batch_row.size() != batch_row_count)
    throw std::runtime_error("record " + std::to_string(index) +
                             " does not have the same batch rows as the evaluation");
  return losses;
}

}  // namespace cachet::tasks
