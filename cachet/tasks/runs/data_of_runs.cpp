#include "cachet/tasks/runs/data_of_runs.h"

#include <variant>

namespace cachet::tasks {

DataOfRuns compared_data(const RunRecord& one, const RunRecord& other, const std::string& split) {
  const auto left = one.data.find(split), right = other.data.find(split);
  if (left == one.data.end() || right == other.data.end()) return DataOfRuns::unknown;
  if (left->second.index() != right->second.index()) return DataOfRuns::unknown;
  const auto* digest = std::get_if<data::DataDigest>(&left->second);
  const bool same = digest == nullptr ? left->second == right->second
                                      : digest->identity() == std::get<data::DataDigest>(right->second).identity();
  return same ? DataOfRuns::same : DataOfRuns::other;
}

bool only_times_differ(const RunRecord& one, const RunRecord& other, const std::string& split) {
  if (compared_data(one, other, split) != DataOfRuns::same) return false;
  const auto* left = std::get_if<data::DataDigest>(&one.data.at(split));
  return left != nullptr && left->times != std::get<data::DataDigest>(other.data.at(split)).times;
}

bool numbers_of_samples_differ(const RunRecord& one, const RunRecord& other) {
  const int64_t left = one.description.evaluated, right = other.description.evaluated;
  return left > 0 && right > 0 && left != right;
}

DataOfRuns compared_test_data(const RunRecord& one, const RunRecord& other) {
  if (numbers_of_samples_differ(one, other)) return DataOfRuns::other;
  return compared_data(one, other, "evaluation");
}

}  // namespace cachet::tasks
