#include "cachet/tasks/language_modelling/segment_losses.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/thrown_message.h"

namespace cachet::tasks {
namespace {

SegmentLosses small() {
  const at::Tensor losses = at::tensor({0.5F, 1.0F, 0.25F, 2.0F, 4.0F, 0.0F}).view({2, 3});
  const at::Tensor targets = at::tensor({7, 0, 3, 1, 2, -1}, at::kLong).view({2, 3});
  return segment_losses(losses, targets);
}

TEST(SegmentLosses, AreSumsByPlaceAndByLane) {
  EXPECT_EQ(small(), (SegmentLosses{{2.5, 5, 0.25}, {1.75, 6}, {2, 2, 1}, {3, 2}}));
}

TEST(SegmentRecord, IsReadAsItWasWritten) {
  SegmentLosses losses = small();
  losses.by_place[0] = 1.0 / 3;
  losses.by_batch_row[1] = 0.1F;
  EXPECT_EQ(segment_from_record(segment_record(losses, 4), 4, 2), losses);
}

TEST(SegmentRecord, RefusesOthers) {
  const Record record = segment_record(small(), 4);
  const auto said = [&](const Record& text, int64_t index, int64_t batch_rows) {
    return test::thrown_message<std::runtime_error>([&] { segment_from_record(text, index, batch_rows); });
  };
  EXPECT_EQ(said(record, 4, 2), "(nothing thrown)");
  EXPECT_NE(said(record, 3, 2).find("record 3 does not belong to this evaluation"), std::string::npos);
  EXPECT_NE(said(record, 4, 3).find("record 4 does not have the same batch rows"), std::string::npos);
  Record damaged = record;
  damaged.replace(damaged.find("[2.5,5.0,0.25]"), 14, "[2.5]");
  EXPECT_NE(said(damaged, 4, 2).find("record 4"), std::string::npos);
}

}  // namespace
}  // namespace cachet::tasks
