#include "cachet/tasks/runs/run_record.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "cachet/io/files/read_file.h"
#include "cachet/io/json/json_fields.h"
#include "cachet/tasks/recipe.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/options.h"
#include "cachet/train/runs/paper_rows.h"
#include "cachet/train/runs/run_status.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::tasks {
namespace {

/// The runs of a folder of seeds are called the same in all such folders, so that their names begin with the folder's.
std::string name_of(const std::filesystem::path& run) {
  const std::filesystem::path folder = run.parent_path();
  return (train::SeedFolder::is_at(folder) ? folder.filename() / run.filename() : run.filename()).string();
}

/// Reads the commit and the machine of a run's training, if the file has them.
void read_machine(const std::filesystem::path& file, RunRecord& run) {
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) return;
  const io::JsonFields json(io::read_text_file(file, 1 << 20), file.string());
  json.schema(1);
  run.commit = json.text("commit", "");
  train::Environment machine;
  machine.processor = json.text("processor", json.text("cpu_capability", ""));
  machine.gpus = json.text("gpus", "");
  machine.threads = json.has("threads") ? static_cast<int>(json.integer("threads", 0, train::kMaxThreads)) : 0;
  run.processes = json.has("processes") ? json.count("processes") : 0;
  machine.processes = run.processes;
  run.device = train::device_text(machine, train::device_of(run.recipe));
}

train::RunDescription description_of_older(const train::RunFolder& folder) {
  config::Document document = config::Document::from_file(folder.resolved());
  return describe(read_recipe(document).task->profile());
}

/// Multiply–accumulates that were counted by an earlier rule: counted from the recipe. There are none if the recipe
/// cannot be read any more, or gives another number of parameters than the run had.
void count_again(const train::RunFolder& folder, train::RunDescription& description) {
  try {
    const train::RunDescription today = description_of_older(folder);
    if (today.parameters != description.parameters) return;
    description.linear_convolution_macs = today.linear_convolution_macs;
    description.attention_macs = today.attention_macs;
  } catch (const std::exception&) {
  }
}

}  // namespace

bool has_choice(const std::vector<train::Event>& events) {
  return std::ranges::count(events, train::Event::Kind::evaluation, &train::Event::kind) > 1;
}

std::string RunRecord::seed() const {
  const auto found = recipe.find(kSeedKey);
  return found == recipe.end() ? "" : found->second;
}

bool RunRecord::is_over() const {
  return !status || train::is_complete(*status) ||
         (!status->running && status->ending == train::StopReason::out_of_time);
}

bool RunRecord::has_failed() const {
  return status && !status->running &&
         (status->ending == train::StopReason::failed || status->ending == train::StopReason::not_finite);
}

RunRecord read_run(const std::filesystem::path& path) {
  const train::RunFolder folder = train::RunFolder::open(path);
  RunRecord run;
  run.path = std::filesystem::canonical(folder.path());
  run.name = name_of(run.path);
  run.id = folder.id();
  run.recipe_name = folder.recipe_name();
  run.recipe = folder.values();
  std::erase_if(run.recipe, [](const auto& value) { return train::is_of_paper(value.first); });
  run.default_keys = folder.default_keys();
  run.created = folder.created();
  read_machine(folder.environment(), run);
  run.data = folder.data();
  run.status = train::current_status(folder);
  train::EventFile events = train::read_event_file(folder.metrics());
  run.events = std::move(events.events);
  const bool is_written = run.status && run.status->running;
  run.unreadable_lines = events.damaged_lines + (events.is_torn && !is_written ? 1 : 0);
  run.description = folder.description() ? *folder.description() : description_of_older(folder);
  if (!run.description.has_macs()) count_again(folder, run.description);
  return run;
}

}  // namespace cachet::tasks
