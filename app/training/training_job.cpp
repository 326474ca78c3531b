#include "app/training/training_job.h"

#include <fstream>
#include <iostream>
#include <regex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/arguments/common_arguments.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "cachet/config/resolved_toml.h"
#include "cachet/io/files/folder_path.h"
#include "cachet/report/program_name.h"
#include "cachet/train/runs/resume_command.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;

/// The newest of the folders that new_run_path() named after a recipe, of single runs or of several seeds.
std::optional<fs::path> newest_run(const fs::path& root, const std::string& name, bool several) {
  const std::regex pattern("([0-9]{8})-(.*?)(?:-([0-9]+))?");
  std::optional<fs::path> newest;
  std::pair<std::string, int> newest_key;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(root, unreadable)) {
    const std::string folder = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(folder, match, pattern) || match[2] != name || match[3].length() > 6) continue;
    if (train::SeedFolder::is_at(entry.path()) != several) continue;
    const std::pair key(match[1].str(), match[3].matched ? std::stoi(match[3]) : 1);
    if (!newest || key > newest_key) {
      newest = entry.path();
      newest_key = key;
    }
  }
  return newest;
}

}  // namespace

train::WrittenRecipe TrainingJob::written(const config::Document& document) const {
  if (!made) return written_recipe(recipe);
  std::vector<config::Document::Value> values = document.resolved();
  std::erase_if(values, [](const config::Document::Value& value) {
    return value.origin.source == config::kDefaultSource || value.origin.source == kKeptSource;
  });
  const std::string comment = made->text.substr(0, made->text.find('\n') + 1);
  return {made->name, comment + "\n" + config::resolved_toml(values, /*with_origins=*/false)};
}

std::optional<fs::path> resumed_run(const TrainingJob& job) {
  return job.resumes ? std::optional(job.run) : std::nullopt;
}

TrainingJob training_job(const TrainArguments& arguments, bool several) {
  if (fs::is_directory(arguments.target)) {
    const train::RunFolder folder = train::RunFolder::open(arguments.target);
    if (several && !train::SeedFolder::is_at(arguments.target))
      throw UsageError(arguments.target +
                       " is a run of one seed; to train several seeds, give the recipe with --seeds");
    if (!arguments.run.empty())
      throw UsageError(arguments.target + " is a run, and a run is resumed in its own folder; leave --run out");
    if (!arguments.resume && !arguments.is_preview())
      throw UsageError(arguments.target + " is a run; resume it with: " + train::resume_command(folder.path()));
    return {folder.resolved(), folder.path(), true};
  }
  const auto job = [&](fs::path run, bool resumes, bool is_named) {
    TrainingJob made{arguments.made ? fs::path() : find_recipe(arguments.target), std::move(run), resumes, is_named};
    made.made = arguments.made;
    return made;
  };
  const std::string name = job({}, false, false).name();
  if (!arguments.run.empty()) {
    const fs::path run = io::without_last_separator(arguments.run);
    const bool resumes = arguments.resume && fs::exists(run);
    if (resumes && several && !train::SeedFolder::is_at(run))
      throw UsageError(arguments.run + " is a run of one seed; resume it without --seeds, or choose another --run");
    return job(run, resumes, /*is_named=*/true);
  }
  if (arguments.resume)
    if (const auto run = newest_run(arguments.runs, name, several)) return job(*run, true, /*is_named=*/true);
  return job(train::new_run_path(arguments.runs, name), false, /*is_named=*/false);
}

io::FolderLock lock_beside(const fs::path& path) {
  const fs::path beside = fs::absolute(path).parent_path();
  std::error_code failed;
  fs::create_directories(beside, failed);
  if (failed) throw std::runtime_error(path.string() + ": cannot be made: " + failed.message());
  if (auto lock = io::FolderLock::take_if_free(beside)) return std::move(*lock);
  std::cerr << "waiting for another process that has locked the folder " << beside.string() << '\n';
  return io::FolderLock::wait_for(beside);
}

train::LatestLink latest_link(const TrainArguments& arguments, const fs::path& run) {
  std::error_code absent;
  const fs::path beside = run.has_parent_path() ? run.parent_path() : fs::path(".");
  return fs::equivalent(beside, arguments.runs, absent) ? train::LatestLink::pointed : train::LatestLink::untouched;
}

NewRunPath::NewRunPath(const TrainArguments& arguments, const TrainingJob& job) : path(job.run) {
  if (job.is_named && !arguments.resume) return;
  lock_ = lock_beside(job.run);
  if (!arguments.resume && fs::exists(job.run)) path = train::new_run_path(arguments.runs, job.name());
}

std::vector<std::string> command_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words{report::program_name()};
  std::string word;
  std::getline(file, word, '\0');  // the program, by whatever path
  while (std::getline(file, word, '\0')) words.push_back(word);
  return words;
}

}  // namespace cachet::app
