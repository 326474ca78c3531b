#include "app/commands/bench_profile.h"

#include <ATen/Parallel.h>

#include <iostream>
#include <stdexcept>

#include "app/arguments/common_arguments.h"
#include "app/arguments/described_model.h"
#include "app/commands/bench_case.h"
#include "app/commands/command.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/counted.h"
#include "cachet/report/format.h"
#include "cachet/report/text/text_table.h"
#include "cachet/tasks/profiled_steps.h"
#include "cachet/train/profile/profile_tables.h"

namespace cachet::app {
namespace {

using analysis::BenchmarkPrecision;

/// A profile, and the precision of its steps.
struct Profiled {
  train::StepProfile profile;
  BenchmarkPrecision precision = BenchmarkPrecision::float32;
};

Profiled profile_of_recipe(tasks::RecipePlan plan, const ProfiledBench& bench, tasks::ProfileOptions options) {
  train::TrainOptions& training = plan.training.train;
  if (bench.device != "auto") training.device = *train::parse_device(bench.device);
  if (bench.threads > 0) training.threads = bench.threads;
  if (bench.precision)
    training.precision =
        *bench.precision == BenchmarkPrecision::bfloat16 ? train::Precision::bfloat16 : train::Precision::float32;
  options.samples = bench.batch.value_or(0);
  return {tasks::profile_training(plan, options), training.precision == train::Precision::bfloat16
                                                      ? BenchmarkPrecision::bfloat16
                                                      : BenchmarkPrecision::float32};
}

Profiled profile_of_model(const ProfiledBench& bench, const tasks::ProfileOptions& options) {
  BenchCase one{bench.model, {}, bench.device};
  one.options.mode = bench.trains ? analysis::BenchmarkMode::training : analysis::BenchmarkMode::inference;
  one.options.precision = bench.precision.value_or(BenchmarkPrecision::float32);
  one.options.batch = bench.batch.value_or(1);
  if (bench.threads > 0) at::set_num_threads(bench.threads);
  return {tasks::profile_trial(*build_model(one), one.options, options), one.options.precision};
}

Profiled profiled(const ProfiledBench& bench) {
  const tasks::ProfileOptions options{.steps = bench.steps, .trace = bench.trace};
  try {
    const std::optional<tasks::RecipePlan> recipe = read_described_recipe(bench.model);
    return recipe && bench.trains ? profile_of_recipe(*recipe, bench, options) : profile_of_model(bench, options);
  } catch (...) {
    if (!analysis::is_out_of_memory()) throw;
  }
  throw std::runtime_error("out of memory; give a smaller batch size with --batch");
}

void print_profile_json(const ProfiledBench& bench, const Profiled& result) {
  nlohmann::ordered_json json{{"schema", kSchema},
                              {"model", bench.model.name},
                              {"mode", bench.trains ? "train" : "infer"},
                              {"precision", to_string(result.precision)},
                              {"threads", at::get_num_threads()}};
  json.update(nlohmann::ordered_json::parse(train::to_json(result.profile)));
  print_json(json);
}

void print_profile(const ProfiledBench& bench, const Profiled& result, bool wide) {
  const train::StepProfile& profile = result.profile;
  const report::TextForm form = printed_form(wide);
  const auto line = [](const std::string& what, const std::string& text) {
    std::cout << what << std::string(14 - what.size(), ' ') << text << '\n';
  };
  line("model", bench.model.name);
  line("steps", config::counted(profile.steps, bench.trains ? "training step" : "inference step") + " of " +
                    report::format_number(profile.samples) + (profile.samples == 1 ? " sample, " : " samples, ") +
                    std::string(to_string(result.precision)) + ", " + profile.device + ", " +
                    config::counted(at::get_num_threads(), "thread"));
  line("time", report::format_duration(profile.seconds) + " a step with the profiler, " +
                   report::format_duration(profile.seconds_without_profiler.value_or(0)) + " without it (median)");
  if (const auto why = train::why_busy_is_unknown(profile))
    line("device busy", "unknown: " + *why);
  else
    line("device busy", report::format_percent(profile.busy_fraction()) + " of a step");
  if (profile.kind == train::ActivityKind::operators)
    line("in operators", report::format_percent(profile.busy_fraction()) + " of a step");
  else
    line("CUDA graphs", report::format_number(profile.graph_launches) + " launches per step");
  if (bench.trace) line("trace", bench.trace->string());
  for (const report::Table& table : train::profile_tables(profile))
    std::cout << '\n' << report::text_table(table, form);
}

}  // namespace

int run_profile(const ProfiledBench& bench, const ProfileForm& form) {
  const Profiled result = profiled(bench);
  if (form.json)
    print_profile_json(bench, result);
  else
    print_profile(bench, result, form.wide);
  return kDone;
}

}  // namespace cachet::app
