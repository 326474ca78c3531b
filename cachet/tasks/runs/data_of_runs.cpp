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

DataOfRuns compared_test_data(const RunRecord& one, const RunRecord& other) {
  const int64_t left = one.description.evaluated, right = other.description.evaluated;
  if (left > 0 && right > 0 && left != right) return DataOfRuns::other;
  return compared_data(one, other, "evaluation");
}

}  // namespace cachet::tasks
