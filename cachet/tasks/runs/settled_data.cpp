#include "cachet/tasks/runs/settled_data.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <variant>

#include "cachet/nn/base/initialization.h"
#include "cachet/tasks/saved_run.h"

namespace cachet::tasks {
namespace {

constexpr const char* kSplit = "evaluation";

template <class Digest>
const Digest* test_digest(const RunRecord& run) {
  const auto found = run.data.find(kSplit);
  return found == run.data.end() ? nullptr : std::get_if<Digest>(&found->second);
}

/// The values of the recipe for its task and its data.
std::string data_of_recipe(const RunRecord& run) {
  std::string text;
  for (const auto& [key, value] : run.recipe)
    if (key.starts_with("data.") || key.starts_with("task.")) text += key + "=" + value + "\n";
  return text;
}

}  // namespace

PresentDigest present_test_data(const RunRecord& run) {
  const RecipePlan plan = read_saved_plan(run.path);
  if (const auto why = plan.task->absent_data()) throw std::runtime_error(*why);
  const nn::WithoutInitialization no_values;
  const std::unique_ptr<Task> task = plan.task->build(plan.training.train, Splits::test);
  const auto digests = task->data_digests();
  const auto fingerprints = task->data_fingerprints();
  const auto digest = digests.find(kSplit);
  const auto fingerprint = fingerprints.find(kSplit);
  if (digest == digests.end() || fingerprint == fingerprints.end())
    throw std::runtime_error(run.name + ": the task of the run has no digest of the test data");
  return {digest->second, fingerprint->second};
}

void settle_test_data(std::vector<RunRecord>& runs, const LookAtTestData& look) {
  if (std::ranges::none_of(runs, [](const RunRecord& run) { return test_digest<data::DataDigest>(run) != nullptr; }))
    return;
  std::map<std::string, std::optional<PresentDigest>> seen;
  for (RunRecord& run : runs) {
    const auto* old = test_digest<std::string>(run);
    if (old == nullptr) continue;
    const std::string data = data_of_recipe(run);
    auto known = seen.find(data);
    if (known == seen.end()) known = seen.emplace(data, look(run)).first;
    const std::optional<PresentDigest>& present = known->second;
    if (present && present->fingerprint == *old) run.data[kSplit] = present->digest;
  }
}

}  // namespace cachet::tasks
