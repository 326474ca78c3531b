#include "cachet/tasks/runs/run_groups.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "cachet/tasks/runs/data_of_runs.h"
#include "cachet/tasks/runs/run_list.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/earlier_values.h"
#include "cachet/train/runs/resume_command.h"
#include "cachet/train/runs/resume_rules.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

train::RecipeValues experiment_of(const RunRecord& run) {
  return train::values_of_experiment(run.recipe, std::max<int64_t>(1, run.processes));
}

/// Whether all values of one recipe are those of the other, except for the seed and for how the same parts of a step
/// are spread over processes. If the other does not have a key because its run is older, it was made with the option's
/// default, or with the earlier value if that is another one; the names of classes do not matter there.
bool says_the_same(const RunRecord& run, const RunRecord& other) {
  const train::RecipeValues own = experiment_of(run), theirs = experiment_of(other);
  return std::ranges::all_of(own, [&](const auto& item) {
    const auto& [key, value] = item;
    if (key == kSeedKey) return true;
    const auto found = theirs.find(key);
    if (found == theirs.end()) {
      const std::optional<std::string> earlier = train::earlier_value(key);
      return earlier ? *earlier == value : run.default_keys.contains(key) || names_classes(key);
    }
    return found->second == value;
  });
}

bool may_have_the_same_data(const RunRecord& run, const RunRecord& other) {
  return compared_data(run, other, "training") != DataOfRuns::other &&
         compared_test_data(run, other) != DataOfRuns::other;
}

bool takes(const RunGroup& group, const RunRecord& run) {
  const RunRecord& first = group.runs.front();
  return says_the_same(first, run) && says_the_same(run, first) && may_have_the_same_data(first, run) &&
         std::ranges::none_of(group.runs, [&](const RunRecord& other) { return other.seed() == run.seed(); });
}

/// The last `count` parts of a path: all if it has fewer.
fs::path last_parts(const fs::path& path, std::ptrdiff_t count) {
  const fs::path parts = path.relative_path();
  fs::path last;
  for (auto part =
           std::next(parts.begin(), std::max<std::ptrdiff_t>(0, std::distance(parts.begin(), parts.end()) - count));
       part != parts.end(); ++part)
    last /= *part;
  return last;
}

/// Runs of one name are distinguished by the folders that they lie in, of which a name has as many as it takes.
void name_apart(std::vector<RunRecord>& runs) {
  for (bool longer = true; longer;) {
    longer = false;
    std::map<std::string, int> counts;
    for (const RunRecord& run : runs) ++counts[run.name];
    for (RunRecord& run : runs) {
      if (counts[run.name] == 1) continue;
      const fs::path name = run.name;
      const std::string more = last_parts(run.path, std::distance(name.begin(), name.end()) + 1).string();
      longer |= more != run.name;
      run.name = more;
    }
  }
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
  const std::string& first = group.runs.front().name;
  return common_folder(group).empty() ? first : fs::path(first).parent_path().string();
}

/// Two groups of one folder of seeds (for example, because their data differ) are called as their first runs are.
void name_groups(std::vector<RunGroup>& groups) {
  std::map<std::string, int> counts;
  for (RunGroup& group : groups) ++counts[group.name = name_of(group)];
  for (RunGroup& group : groups)
    if (counts[group.name] > 1) group.name = group.runs.front().name;
}

/// Reads what command lines name.
class RunReader {
 public:
  std::vector<RunRecord> runs;
  std::map<fs::path, std::vector<uint64_t>> missing;  // by folder of seeds
  std::vector<std::string> unreadable;

  void read(const fs::path& path) {
    if (train::SeedFolder::is_at(path)) return attempt([&] { read_seeds(path); });
    const std::vector<fs::path> inside = runs_inside(path);
    if (inside.empty()) return attempt([&] { add(read_run(path)); });
    for (const fs::path& run : inside) read(run);
  }

 private:
  template <class Read>
  void attempt(const Read& read) {
    try {
      read();
    } catch (const std::exception& error) {
      unreadable.push_back(train::first_line(train::error_message(error)));
    }
  }

  void read_seeds(const fs::path& path) {
    const auto folder = train::SeedFolder::open(path);
    const fs::path shared = fs::canonical(folder.shared().path());
    bool begun = false;
    for (const uint64_t seed : folder.seeds()) {
      if (!folder.has_begun(seed)) {
        missing[shared].push_back(seed);
        continue;
      }
      begun = true;
      attempt([&] { add(read_run(folder.run(seed))); });
    }
    if (!begun)
      throw std::runtime_error(path.string() + ": no run has begun yet; begin with: " + train::resume_command(path));
  }

  void add(RunRecord run) {
    if (seen_.insert(run.path).second) runs.push_back(std::move(run));
  }

  /// Runs and folders of seeds below a folder that is not one itself.
  static std::vector<fs::path> runs_inside(const fs::path& path) {
    if (train::is_run_folder(path)) return {};
    return run_folders_below(path, /*seeds_as_one=*/true);
  }

  std::set<fs::path> seen_;
};

}  // namespace

std::string RunGroup::title() const {
  if (!has_seeds()) return name;
  const size_t all = runs.size() + missing.size(), used = counted().size();
  const std::string of = used < all ? std::to_string(used) + " of " : "";
  return name + " (" + of + std::to_string(all) + (all == 1 ? " seed)" : " seeds)");
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

size_t RunGroup::failed() const { return static_cast<size_t>(std::ranges::count_if(runs, &RunRecord::has_failed)); }

bool RunGroup::is_over() const {
  return std::ranges::all_of(counted(), [](const RunRecord* run) { return run->is_over(); });
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
  name_groups(groups);
  return groups;
}

ReadGroups read_groups(const std::vector<fs::path>& paths, const LookAtTestData& look) {
  RunReader reader;
  for (const fs::path& path : paths) reader.read(path);
  if (reader.runs.empty()) {
    std::string all;
    for (const std::string& line : reader.unreadable) all += (all.empty() ? "" : "\n") + line;
    throw std::runtime_error(all);
  }
  if (look) settle_test_data(reader.runs, look);
  std::vector<RunGroup> groups = grouped(std::move(reader.runs));
  for (RunGroup& group : groups) {
    const auto found = reader.missing.find(common_folder(group));
    if (found == reader.missing.end()) continue;
    group.missing = found->second;
  }
  name_groups(groups);
  return {std::move(groups), std::move(reader.unreadable)};
}

}  // namespace cachet::tasks
