#include "cachet/tasks/runs/run_record.h"

#include <nlohmann/json.hpp>

#include "cachet/io/error.h"
#include "cachet/io/parse_json.h"
#include "cachet/io/read_file.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/environment.h"
#include "cachet/train/run_status.h"

namespace cachet::tasks {
namespace {

using EnvironmentJson = nlohmann::json;

/// Where and by what a run was trained is told where it can be; a comparison does not depend on it.
void read_machine(const std::filesystem::path& file, RunRecord& run) {
  try {
    const EnvironmentJson json = io::parse_json<EnvironmentJson>(io::read_text_file(file, 1 << 20));
    run.commit = json.value("commit", "");
    train::Environment machine;
    machine.processor = json.value("processor", json.value("cpu_capability", ""));
    machine.gpus = json.value("gpus", "");
    machine.threads = json.value("threads", 0);
    run.device = train::device_text(machine, train::device_of(run.recipe));
  } catch (const EnvironmentJson::exception&) {
  } catch (const io::Error&) {
  }
}

train::RunDescription description_of_older(const train::RunFolder& folder) {
  config::Document document = config::Document::from_file(folder.resolved());
  return describe(read_recipe(document).task->profile());
}

}  // namespace

std::string RunRecord::seed() const {
  const auto found = recipe.find(kSeedKey);
  return found == recipe.end() ? "" : found->second;
}

bool RunRecord::is_over() const {
  return !status || train::is_complete(*status) || (!status->running && status->ending == train::Ending::out_of_time);
}

RunRecord read_run(const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  RunRecord run;
  run.path = std::filesystem::canonical(folder.path());
  run.name = run.path.filename().string();
  run.id = folder.id();
  run.recipe_name = folder.recipe_name();
  run.recipe = folder.values();
  run.default_keys = folder.default_keys();
  run.created = folder.created();
  read_machine(folder.environment(), run);
  run.status = train::current_status(folder);
  run.events = train::read_events(folder.metrics());
  run.description = folder.description() ? *folder.description() : description_of_older(folder);
  return run;
}

}  // namespace cachet::tasks
