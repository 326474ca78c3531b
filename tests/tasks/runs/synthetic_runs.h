#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/runs/run_record.h"
#include "cachet/tasks/runs/run_values.h"

/// Runs that nobody trained, for tests of what compares them.
namespace cachet::test {

/// Evaluations at steps 10, 20, … with these accuracies, a step line at each, ten seconds apart.
inline std::vector<train::Event> synthetic_events(const std::vector<double>& accuracies) {
  std::vector<train::Event> events;
  for (size_t i = 0; i < accuracies.size(); ++i) {
    const auto step = static_cast<int64_t>(10 * (i + 1));
    const double seconds = static_cast<double>(step);
    events.push_back({train::Event::Kind::step, step, 1, {{"loss", 2.0}, {"top1", 0.25}, {"lr", 0.1}}, {}, {}});
    events.back().machine = {{"seconds", seconds}, {"samples_per_second", 100}};
    events.push_back(
        {train::Event::Kind::evaluation, step, 1, {{"loss", 1 - accuracies[i]}, {"top1", accuracies[i]}}, {}, {}});
    events.back().metrics.set("top1_stderr", 0.01);
    events.back().machine = {{"seconds", seconds + 1}};
  }
  return events;
}

inline tasks::RunRecord synthetic_record(const std::string& name, const std::string& seed,
                                         const std::vector<double>& accuracies,
                                         std::optional<train::StopReason> ending = train::StopReason::finished) {
  tasks::RunRecord run;
  run.path = "runs/" + name;
  run.name = name;
  run.recipe_name = "tiny";
  run.recipe = {{"train.seed", seed}, {"model.name", "\"vit\""}};
  run.created = "2026-11-21T20:43:45Z";
  run.commit = "abc";
  run.device = "2 threads of a processor";
  run.status.emplace();
  run.status->running = !ending;
  run.status->ending = ending.value_or(train::StopReason::finished);
  run.status->step = 10;
  run.status->total_steps = 30;
  run.events = synthetic_events(accuracies);
  run.data = {{"evaluation", data::DataDigest{"0000"}}};
  run.description.parameters = 1000;
  run.description.words = {"image", "images", "img/s", "test"};
  run.description.metrics = tasks::classification_metrics();
  return run;
}

inline const tasks::RunValue& value_of(const std::vector<tasks::RunValue>& values, const std::string& name) {
  for (const tasks::RunValue& value : values)
    if (value.name == name) return value;
  throw std::out_of_range(name);
}

}  // namespace cachet::test
