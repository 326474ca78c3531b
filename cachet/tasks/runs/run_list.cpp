#include "cachet/tasks/runs/run_list.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/run_status.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLevels = 5;

void find_runs(const fs::path& folder, int levels, bool seeds_as_one, std::vector<fs::path>& found) {
  const bool has_seeds = train::SeedFolder::is_at(folder);
  if (has_seeds ? seeds_as_one : train::is_run_folder(folder)) {
    found.push_back(folder);
    return;
  }
  if (levels == 0) return;
  std::vector<fs::path> below;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    std::error_code gone;
    if (entry.is_symlink(gone) || !entry.is_directory(gone)) continue;
    if (!entry.path().filename().string().starts_with('.')) below.push_back(entry.path());
  }
  std::ranges::sort(below);
  for (const fs::path& path : below) find_runs(path, levels - 1, seeds_as_one, found);
}

std::optional<ListedRun::Best> best_evaluation_of(const train::RunDescription& run,
                                                  const std::vector<train::Event>& events) {
  const report::MetricDescription* metric = report::deciding(run.metrics);
  if (metric == nullptr) return std::nullopt;
  std::optional<ListedRun::Best> best;
  for (const train::Event& event : events) {
    const auto value = event.kind == train::Event::Kind::evaluation ? event.metrics.find(metric->name) : std::nullopt;
    if (!value || !std::isfinite(*value)) continue;
    if (best && report::best_of({best->value, *value}, metric->better) == best->value) continue;
    best = ListedRun::Best{*metric, *value, event.metrics.find(metric->name + std::string(report::kErrorSuffix)),
                           run.samples_of(*metric, event.metrics)};
  }
  return best;
}

ListedRun listed(const fs::path& path, const fs::path& below) {
  const train::RunFolder folder = train::RunFolder::open(path);
  ListedRun run;
  run.path = path;
  run.name = path.lexically_relative(below).generic_string();
  if (run.name == ".") run.name = fs::weakly_canonical(path).filename().string();
  run.recipe = folder.recipe_name();
  run.status = train::current_status(folder);
  run.created = folder.created();
  const std::vector<train::Event> events = train::read_events(folder.metrics());
  for (const train::Event& event : events)
    run.seconds = std::max(run.seconds, event.machine.find("seconds").value_or(0));
  if (folder.description()) run.best = best_evaluation_of(*folder.description(), events);
  return run;
}

}  // namespace

std::vector<fs::path> run_folders_below(const fs::path& folder, bool seeds_as_one) {
  std::vector<fs::path> found;
  find_runs(folder, kMaxLevels, seeds_as_one, found);
  return found;
}

RunList list_runs(const fs::path& folder) {
  std::error_code unreadable;
  if (!fs::is_directory(folder, unreadable)) throw std::runtime_error(folder.string() + ": there is no such folder");
  RunList list;
  for (const fs::path& path : run_folders_below(folder)) {
    try {
      list.runs.push_back(listed(path, folder));
    } catch (const std::exception& error) {
      list.unreadable.push_back(train::first_line(train::error_message(error)));
    }
  }
  return list;
}

}  // namespace cachet::tasks
