#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cachet/tasks/abilities.h"
#include "cachet/tasks/task.h"

namespace cachet::test {

/// What an evaluation keeps from record `first` on.
inline std::vector<tasks::Record> evaluation_records(tasks::Task& task, int64_t first = 0) {
  std::vector<tasks::Record> records;
  dynamic_cast<tasks::EvaluatesRecords&>(task).record_evaluation(
      first, [&](const tasks::Record& record) { records.push_back(record); });
  return records;
}

inline train::Metrics metrics_of_records(tasks::Task& task, const std::vector<tasks::Record>& records) {
  size_t next = 0;
  return dynamic_cast<tasks::EvaluatesRecords&>(task).evaluate_records([&]() -> std::optional<tasks::Record> {
    return next < records.size() ? std::optional(records[next++]) : std::nullopt;
  });
}

/// Holds a task to what EvaluatesRecords promises: the numbers of evaluate(), and records that continue anywhere. Gives
/// the records.
inline std::vector<tasks::Record> expect_records_are_the_evaluation(tasks::Task& task) {
  const train::Metrics metrics = task.evaluate([](int64_t, int64_t) {});
  const std::vector<tasks::Record> records = evaluation_records(task);
  const auto count = static_cast<int64_t>(records.size());
  EXPECT_EQ(count, dynamic_cast<tasks::EvaluatesRecords&>(task).evaluation_records());
  EXPECT_EQ(metrics_of_records(task, records), metrics);
  for (const int64_t first : {int64_t{1}, count / 3, count / 2 + 1, count - 1, count}) {
    const std::vector<tasks::Record> rest(records.begin() + first, records.end());
    EXPECT_EQ(evaluation_records(task, first), rest) << "from record " << first;
  }
  for (int64_t i = 0; i < count; ++i)
    EXPECT_TRUE(records[static_cast<size_t>(i)].starts_with("{\"index\":" + std::to_string(i) + ",")) << i;
  return records;
}

}  // namespace cachet::test
