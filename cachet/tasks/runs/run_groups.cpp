#include "cachet/tasks/runs/run_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "cachet/report/program_name.h"
#include "cachet/train/seed_folder.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

/// Whether all that one recipe says the other says too, but for the seed and for options at their defaults that the
/// other does not have: its run is older than they are.
bool says_the_same(const RunRecord& run, const RunRecord& other) {
  return std::ranges::all_of(run.recipe, [&](const auto& item) {
    const auto& [key, value] = item;
    if (key == kSeedKey) return true;
    const auto found = other.recipe.find(key);
    return found == other.recipe.end() ? run.default_keys.contains(key) : found->second == value;
  });
}

bool takes(const RunGroup& group, const RunRecord& run) {
  const RunRecord& first = group.runs.front();
  return says_the_same(first, run) && says_the_same(run, first) &&
         std::ranges::none_of(group.runs, [&](const RunRecord& other) { return other.seed() == run.seed(); });
}

/// Two runs of one name are told apart by the folders that they lie in.
void name_apart(std::vector<RunRecord>& runs) {
  std::map<std::string, int> counts;
  for (const RunRecord& run : runs) ++counts[run.name];
  for (RunRecord& run : runs)
    if (counts[run.name] > 1) run.name = run.path.parent_path().filename().string() + "/" + run.name;
}

/// The folder of seeds that all runs of a group lie in, if there is one.
fs::path common_folder(const RunGroup& group) {
  const fs::path folder = group.runs.front().path.parent_path();
  const bool common = train::SeedFolder::is_at(folder) && std::ranges::all_of(group.runs, [&](const RunRecord& run) {
                        return run.path.parent_path() == folder;
                      });
  return common ? folder : fs::path();
}

std::string name_of(const RunGroup& group) {
  if (!group.has_seeds()) return group.runs.front().name;
  const fs::path folder = common_folder(group);
  return folder.empty() ? group.runs.front().name : folder.filename().string();
}

/// What one path of a command line stands for.
struct NamedRuns {
  std::vector<RunRecord> runs;
  fs::path folder;  // of seeds
  std::vector<uint64_t> missing;
};

NamedRuns read_path(const fs::path& path) {
  NamedRuns named;
  if (!train::SeedFolder::is_at(path)) {
    named.runs.push_back(read_run(path));
    return named;
  }
  const auto folder = train::SeedFolder::open(path);
  named.folder = fs::canonical(folder.shared().path());
  for (const uint64_t seed : folder.seeds()) {
    if (!folder.has_begun(seed)) {
      named.missing.push_back(seed);
      continue;
    }
    named.runs.push_back(read_run(folder.run(seed)));
    named.runs.back().name = (named.folder.filename() / named.runs.back().name).string();
  }
  if (named.runs.empty())
    throw std::runtime_error(path.string() + ": no run has begun yet; begin with: " + report::program_name() +
                             " train " + path.string() + " --resume");
  return named;
}

}  // namespace

std::string RunGroup::title() const {
  if (!has_seeds()) return name;
  return name + " (" + std::to_string(runs.size()) + (runs.size() == 1 ? " seed)" : " seeds)");
}

std::vector<const RunRecord*> RunGroup::counted() const {
  std::vector<const RunRecord*> over, evaluated, all;
  for (const RunRecord& run : runs) {
    all.push_back(&run);
    const bool has_evaluation = std::ranges::any_of(
        run.events, [](const train::Event& event) { return event.kind == train::Event::Kind::evaluation; });
    if (has_evaluation) evaluated.push_back(&run);
    if (has_evaluation && run.is_over()) over.push_back(&run);
  }
  if (!over.empty()) return over;
  return evaluated.empty() ? all : evaluated;
}

std::vector<RunGroup> grouped(std::vector<RunRecord> runs) {
  name_apart(runs);
  std::vector<RunGroup> groups;
  for (RunRecord& run : runs) {
    const auto group = std::ranges::find_if(groups, [&](const RunGroup& one) { return takes(one, run); });
    if (group != groups.end()) {
      group->runs.push_back(std::move(run));
    } else {
      groups.push_back({"", {}, {}});
      groups.back().runs.push_back(std::move(run));
    }
  }
  for (RunGroup& group : groups) group.name = name_of(group);
  return groups;
}

std::vector<RunGroup> read_groups(const std::vector<fs::path>& paths) {
  std::vector<RunRecord> runs;
  std::map<fs::path, std::vector<uint64_t>> missing;  // by folder of seeds
  std::set<fs::path> seen;
  for (const fs::path& path : paths) {
    NamedRuns named = read_path(path);
    if (!named.missing.empty()) missing[named.folder] = named.missing;
    for (RunRecord& run : named.runs)
      if (seen.insert(run.path).second) runs.push_back(std::move(run));
  }
  std::vector<RunGroup> groups = grouped(std::move(runs));
  for (RunGroup& group : groups) {
    const auto found = missing.find(common_folder(group));
    if (found == missing.end()) continue;
    group.missing = found->second;
    group.name = name_of(group);
  }
  return groups;
}

}  // namespace cachet::tasks
