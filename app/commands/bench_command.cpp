#include <algorithm>
#include <iostream>
#include <memory>

#include "app/arguments/common_arguments.h"
#include "app/arguments/described_model.h"
#include "app/arguments/number_option.h"
#include "app/arguments/one_of.h"
#include "app/commands/bench_case.h"
#include "app/commands/bench_profile.h"
#include "app/commands/command.h"
#include "app/commands/cost_table.h"
#include "app/machine/precision_note.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/text_output.h"
#include "cachet/config/problem.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/report/text/text_table.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/train/machine/error_message.h"

namespace cachet::app {
namespace {

using analysis::BenchmarkMode;
using analysis::BenchmarkPrecision;

struct BenchArguments {
  std::vector<std::string> models, settings;
  std::string mode = "both";
  std::vector<std::string> precisions;  // none: float32, or that of an export
  std::vector<int64_t> batches;         // none: 1, or that of a recipe which is profiled
  std::vector<int> threads{0};
  double seconds = 2;
  std::string device = "auto", progress = "auto";
  bool table = false, profile = false, json = false, wide = false;
  int64_t profiled_steps = 5;
  std::string trace;
};

std::vector<BenchmarkMode> modes_of(const BenchArguments& arguments) {
  if (arguments.mode == "both") return {BenchmarkMode::inference, BenchmarkMode::training};
  return {arguments.mode == "infer" ? BenchmarkMode::inference : BenchmarkMode::training};
}

bool is_glob(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

BenchmarkPrecision precision_of(const std::string& word) {
  return word == "fp32"   ? BenchmarkPrecision::float32
         : word == "bf16" ? BenchmarkPrecision::bfloat16
                          : BenchmarkPrecision::int8;
}

// An export answers, in the precision that it was written for.
BenchArguments for_export(const std::string& name, const BenchArguments& arguments) {
  if (arguments.table)
    throw UsageError(name + " is an export, which cannot be trained, but --table times training; leave --table out");
  if (arguments.mode == "train")
    throw UsageError(name + " is an export, which cannot be trained; leave --mode train out");
  if (!arguments.settings.empty())
    throw UsageError(name + " is an export, whose model cannot be changed; leave --set out");
  if (arguments.device != "auto" && arguments.device != "cpu")
    throw UsageError(name + " is an export, and exports run only on the CPU; leave --device out");
  BenchArguments result = arguments;
  result.device = "cpu";
  result.mode = "infer";
  const auto precision = runtime::read_export_manifest(name).precision;
  result.precisions = {precision == runtime::Precision::float32 ? "fp32" : std::string(to_string(precision))};
  if (!arguments.precisions.empty() && arguments.precisions != result.precisions)
    throw UsageError(name + " is an export in " + result.precisions.front() +
                     ", and can be timed only in this precision; leave --precision out");
  return result;
}

std::vector<std::string> names_of(const BenchArguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& given : arguments.models) {
    if (is_glob(given))
      std::ranges::copy(matching_models(given), std::back_inserter(names));
    else
      names.push_back(given);
  }
  return names;
}

// All settings are read before anything is measured, so that a mistake costs no time. A model of several that does not
// take them has its rows all the same, with the reason.
std::vector<BenchCase> cases_of(const BenchArguments& given) {
  std::vector<BenchCase> cases;
  const std::vector<std::string> names = names_of(given);
  size_t refused = 0;
  for (const std::string& name : names) {
    const bool is_export = runtime::is_export(name);
    BenchArguments arguments = is_export ? for_export(name, given) : given;
    if (arguments.precisions.empty()) arguments.precisions = {"fp32"};
    if (arguments.batches.empty()) arguments.batches = {1};
    const ModelArgument model{name, arguments.settings};
    std::string problem;
    try {
      if (!is_export) read_described_model(model);
    } catch (const config::Error& error) {
      if (++refused == names.size()) throw;
      problem = train::first_line(train::error_message(error));
    }
    for (const BenchmarkMode mode : modes_of(arguments))
      for (const std::string& precision : arguments.precisions)
        for (const int64_t batch : arguments.batches)
          for (const int threads : arguments.threads)
            cases.push_back(
                {model, {mode, precision_of(precision), batch, threads, arguments.seconds}, arguments.device, problem});
  }
  return cases;
}

constexpr const char* kMemoryNote =
    "activations: peak memory of the tensors of a step. In training, this memory includes gradients and the "
    "optimizer's state. weights: parameters and buffers.";

std::vector<report::Cell> table_row(const BenchRow& row) {
  std::vector<report::Cell> cells{row["model"].get<std::string>(), row["mode"].get<std::string>(),
                                  row["precision"].get<std::string>(), std::to_string(row["batch"].get<int64_t>()),
                                  std::to_string(row["threads"].get<int>())};
  if (row.contains("error")) {
    cells.push_back("failed: " + row["error"].get<std::string>());
    return cells;
  }
  const auto milliseconds = [](const BenchRow& value) { return report::format_number(value.get<double>()); };
  cells.push_back(milliseconds(row["median_ms"]));
  cells.push_back(milliseconds(row["quartiles_ms"][0]) + " - " + milliseconds(row["quartiles_ms"][1]));
  cells.push_back(report::format_number(row["samples_per_second"].get<double>()));
  for (const char* memory : {"activation_bytes", "weight_bytes", "memory_bytes"})
    cells.push_back(row[memory].is_null() ? "–" : report::format_bytes(row[memory].get<int64_t>()));
  return cells;
}

void print_table(const std::vector<BenchRow>& rows, bool wide) {
  using report::Alignment;
  report::Table table;
  table.columns = {{"model"},
                   {"mode"},
                   {"precision"},
                   {"batch", Alignment::right},
                   {"threads", Alignment::right},
                   {"median ms", Alignment::right},
                   {"quartiles", Alignment::right},
                   {"samples/s", Alignment::right},
                   {"activations", Alignment::right},
                   {"weights", Alignment::right},
                   {"activations + weights", Alignment::right}};
  table.columns[6].importance = -1;  // quartiles
  table.note = kMemoryNote;
  for (const BenchRow& row : rows) table.rows.push_back(table_row(row));
  std::cout << report::text_table(table, printed_form(wide)) << '\n';
}

// "vit_tiny_patch16_224, infer, fp32, batch 1, 2 threads: 12.3 ms"
std::string row_text(const BenchRow& row) {
  const auto threads = row["threads"].get<int>();
  const std::string what = row["model"].get<std::string>() + ", " + row["mode"].get<std::string>() + ", " +
                           row["precision"].get<std::string>() + ", batch " +
                           std::to_string(row["batch"].get<int64_t>()) + ", " + std::to_string(threads) +
                           (threads == 1 ? " thread: " : " threads: ");
  if (row.contains("error")) return what + "failed";
  return what + report::format_number(row["median_ms"].get<double>()) + " ms";
}

// The list `results`; one measurement alone has its fields in the object, too.
nlohmann::ordered_json to_json(const std::vector<BenchRow>& rows) {
  nlohmann::ordered_json json{{"schema", kSchema}};
  if (rows.size() == 1) json.update(rows.front());
  json["results"] = rows;
  return json;
}

// Of a table each model is measured once in inference and once in training, so that a row has one of each.
void check_table(const BenchArguments& arguments) {
  if (arguments.mode != "both") throw UsageError("--table always times both inference and training; leave --mode out");
  if (arguments.precisions.size() > 1 || arguments.batches.size() > 1 || arguments.threads.size() > 1)
    throw UsageError(
        "--table prints one row for each model; give only one precision, one batch size and one number of threads");
}

/// Of a profile, there is one way of measuring.
ProfiledBench profile_of(const BenchArguments& arguments) {
  if (arguments.table) throw UsageError("--profile and --table exclude each other; leave one of them out");
  if (arguments.models.size() > 1 || is_glob(arguments.models.front()))
    throw UsageError("--profile profiles one model; give one recipe, one run or the name of one model");
  if (arguments.precisions.size() > 1 || arguments.batches.size() > 1 || arguments.threads.size() > 1)
    throw UsageError("--profile takes only one precision, one batch size and one number of threads");
  if (runtime::is_export(arguments.models.front()))
    throw UsageError(arguments.models.front() +
                     " is an export, which cannot be profiled; give the run from which it was exported");
  ProfiledBench bench{.model = {arguments.models.front(), arguments.settings}, .device = arguments.device};
  bench.trains = arguments.mode != "infer";
  if (!arguments.precisions.empty()) bench.precision = precision_of(arguments.precisions.front());
  if (!arguments.batches.empty()) bench.batch = arguments.batches.front();
  bench.threads = arguments.threads.front();
  bench.steps = arguments.profiled_steps;
  if (!arguments.trace.empty()) bench.trace = arguments.trace;
  return bench;
}

/// A line for each folder whose model was not measured with its own weights.
void report_random_weights(const std::vector<BenchCase>& cases) {
  std::string last;
  for (const BenchCase& bench : cases) {
    if (bench.model.name == last) continue;
    last = bench.model.name;
    if (const auto why = why_random_weights(bench.model))
      std::cerr << bench.model.name << ": measured with random weights, because " << *why << '\n';
  }
}

int run_bench(const BenchArguments& arguments) {
  device_named(arguments.device);  // a mistake costs no time
  if (arguments.profile) return run_profile(profile_of(arguments), {arguments.json, arguments.wide});
  if (arguments.table) check_table(arguments);
  const std::vector<BenchCase> cases = cases_of(arguments);
  const bool apart = arguments.models.size() > 1 || is_glob(arguments.models.front());
  const bool narrow = std::ranges::find(arguments.precisions, "bf16") != arguments.precisions.end();
  if (narrow && device_named(arguments.device).is_cpu())
    if (const auto note = slow_bfloat16_note()) std::cerr << *note << '\n';
  std::vector<BenchRow> rows;
  CountedProgress progress("bench", arguments.progress, {.from_the_start = true});
  for (const BenchCase& bench : cases) {
    if (!bench.problem.empty())
      rows.push_back(error_row(bench, bench.problem));
    else
      rows.push_back(apart ? measure_apart(bench) : measure_here(bench));
    if (cases.size() == 1) break;
    if (arguments.progress != "none")
      progress.log(row_text(rows.back()));  // a measurement is reported, whatever ends the others
    progress.show(static_cast<int64_t>(rows.size()), static_cast<int64_t>(cases.size()));
  }
  progress.finish();
  if (arguments.table)
    show_cost_table(cost_rows(cases, rows), {arguments.json, arguments.wide});
  else if (arguments.json)
    print_json(to_json(rows));
  else
    print_table(rows, arguments.wide);
  if (!arguments.json) report_random_weights(cases);
  int code = kDone;
  for (const BenchRow& row : rows) {
    if (!row.contains("error")) continue;
    std::cerr << report::program_name() << " bench: " << row["model"].get<std::string>() << ": "
              << row["error"].get<std::string>() << '\n';
    code = kFailed;
  }
  return code;
}

Action declare_bench(CLI::App& app) {
  auto arguments = std::make_shared<BenchArguments>();
  app.add_option("MODEL", arguments->models,
                 std::string("Models. Each is one of: a pattern such as 'deit*', ") + kDescribedModels)
      ->required()
      ->type_name("");
  add_settings_option(app, arguments->settings);
  app.add_option("--mode", arguments->mode, "What to time: infer, train or both (default: both)")
      ->check(one_of({"infer", "train", "both"}))
      ->type_name("MODE");
  const auto list = [](CLI::Option* option, const char* type) {
    option->delimiter(',')->allow_extra_args(false)->type_name(type);
    return option;
  };
  list(app.add_option("--precision", arguments->precisions,
                      "Number formats: fp32, bf16, or both as fp32,bf16 (default: fp32)"),
       "LIST")
      ->check(one_of({"fp32", "bf16"}));
  list(add_number(app, "--batch", arguments->batches,
                  "Batch sizes, such as 1,8,32 (default: 1; with --profile, the batch size of a recipe)",
                  {1, int64_t{1} << 20}),
       "LIST");
  list(add_number(app, "--threads", arguments->threads, "Numbers of threads, such as 1,2,4 (default: all)", {1, 4096}),
       "LIST");
  add_number(app, "--seconds", arguments->seconds,
             "Time of each measurement in seconds, after its warm-up (default: 2)", {0.001, 86400.0})
      ->type_name("S");
  add_device_option(app, arguments->device);
  add_progress_option(app, arguments->progress);
  app.add_flag("--table", arguments->table,
               "Print a table with one row for each model, as in papers. The row has the parameters, the "
               "multiply-accumulates and the bytes of the weights. For inference and for training, the row also has "
               "samples/s, the speed relative to the first model, the bytes of the activations, and the bytes of "
               "activations and weights together. Activations are counted as the peak memory of the tensors of a step. "
               "In training, they include gradients and the optimizer's state");
  CLI::Option* profile = app.add_flag(
      "--profile", arguments->profile,
      "Profile steps with LibTorch's profiler. For a recipe or a run, the steps are training steps of the "
      "recipe on synthetic samples. Print the fraction of a step in which the device was busy (on a CPU, in "
      "which operators ran), the time and the launches by family of kernels, and the peak memory by kind");
  add_number(app, "--steps", arguments->profiled_steps, "Number of profiled steps, with --profile (default: 5)",
             {1, int64_t{1000}})
      ->needs(profile)
      ->type_name("N");
  app.add_option("--trace", arguments->trace, "Write the profiled steps into a file as a Chrome trace, with --profile")
      ->needs(profile)
      ->type_name("FILE");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_wide_option(app, arguments->wide);
  return [arguments] { return run_bench(*arguments); };
}

const Registration registered_bench(
    {Topic::models,
     "bench",
     "Measure the time that models take for inference and training",
     {"cachet bench deit_tiny_patch16_224 --mode infer --set model.cache.kind=grc --batch 1,8 --json",
      "cachet bench 'vit_t*' --mode infer --precision fp32,bf16 --threads 1,2",
      "cachet bench imagenet_vit_small imagenet_vit_small_cached --table",
      "cachet bench demo_cached --profile --trace trace.json"},
     declare_bench});

}  // namespace
}  // namespace cachet::app
