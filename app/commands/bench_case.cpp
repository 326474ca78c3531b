#include "app/commands/bench_case.h"

#include <ATen/Parallel.h>
#include <signal.h>

#include <filesystem>
#include <iostream>

#include "app/arguments/common_arguments.h"
#include "app/arguments/described_model.h"
#include "app/commands/command.h"
#include "app/machine/subprocess.h"
#include "cachet/analysis/cost/live_memory.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/runtime/export_manifest.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/checkpoints/checkpoint_store.h"
#include "cachet/train/machine/device.h"
#include "cachet/train/machine/error_message.h"
#include "cachet/train/runs/run_folder.h"
#include "cachet/train/runs/seed_folder.h"

namespace cachet::app {
namespace {

using analysis::BenchmarkMode;
using analysis::BenchmarkPrecision;

// Halves the batch and reports it. False at 1.
bool halve_batch(BenchCase& bench) {
  int64_t& batch = bench.options.batch;
  if (batch == 1) return false;
  std::cerr << report::program_name() << " bench: a batch of " << batch << " does not fit into memory for "
            << bench.model.name << "; trying " << batch / 2 << '\n';
  batch /= 2;
  return true;
}

std::vector<std::string> arguments_of(const BenchCase& bench) {
  const auto& o = bench.options;
  std::vector<std::string> words{"bench",
                                 bench.model.name,
                                 "--json",
                                 "--mode",
                                 std::string(to_string(o.mode)),
                                 "--batch",
                                 std::to_string(o.batch),
                                 "--seconds",
                                 report::format_number(o.seconds, 9),
                                 "--device",
                                 bench.device};
  if (!runtime::is_export(bench.model.name))  // which has a precision of its own
    words.insert(words.end(), {"--precision", std::string(to_string(o.precision))});
  if (o.threads > 0) words.insert(words.end(), {"--threads", std::to_string(o.threads)});
  for (const std::string& setting : bench.model.settings) words.insert(words.end(), {"--set", setting});
  return words;
}

bool has_own_weights(const ModelArgument& model) {
  return runtime::is_export(model.name) || (is_model_on_disk(model.name) && !why_random_weights(model));
}

std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t end = text.rfind('\n');
  return end == std::string::npos ? text : text.substr(end + 1);
}

bool is_run_by_libtorch(const std::string& model) {
  return !runtime::is_export(model) || runtime::read_export_manifest(model).engine == runtime::EngineKind::torch;
}

/// Bytes of the parameters and buffers in the file of an export, in the precision that the session runs them in.
int64_t stored_weight_bytes(const std::filesystem::path& folder) {
  const runtime::ExportManifest manifest = runtime::read_export_manifest(folder);
  const int64_t bytes_each = manifest.precision == runtime::Precision::bfloat16 ? 2 : 4;
  int64_t bytes = 0;
  for (const auto& [name, tensor] :
       io::read_safetensors(folder / std::string(runtime::model_file(manifest.engine))).tensors)
    bytes += tensor.numel() * (tensor.is_floating_point() ? bytes_each : static_cast<int64_t>(tensor.element_size()));
  return bytes;
}

BenchRow case_fields(const BenchCase& bench) {
  const auto& o = bench.options;
  return {{"model", bench.model.name},
          {"mode", to_string(o.mode)},
          {"precision", to_string(o.precision)},
          {"batch", o.batch},
          {"threads", o.threads > 0 ? o.threads : at::get_num_threads()},
          {"device", device_named(bench.device).str()}};
}

}  // namespace

std::optional<std::string> why_random_weights(const ModelArgument& model) {
  if (runtime::is_export(model.name) || !is_model_on_disk(model.name)) return std::nullopt;
  if (!model.settings.empty()) return "--set may change the model";
  if (train::SeedFolder::is_at(model.name)) return "the folder contains the runs of several seeds";
  if (train::is_run_folder(model.name) &&
      train::newest_checkpoints(train::RunFolder::open(model.name).checkpoints()).empty())
    return "the run has no checkpoint yet";
  return std::nullopt;
}

std::shared_ptr<models::Model> build_model(const BenchCase& bench) {
  if (runtime::is_export(bench.model.name)) {
    // An engine gets its number of threads when it opens the model.
    if (bench.options.threads > 0) at::set_num_threads(bench.options.threads);
    return tasks::open_saved_run(bench.model.name).plan.model().build();
  }
  std::shared_ptr<models::Model> model;
  if (has_own_weights(bench.model)) {
    const tasks::SavedRun saved = tasks::open_saved_run(bench.model.name);
    model = saved.plan.model().build();
    io::load_state_dict(*model, tasks::read_weights(saved), {.conversion = io::LoadPolicy::Conversion::kNone});
  } else {
    model = read_described_model(bench.model).build();
  }
  train::place(*model, device_named(bench.device));
  return model;
}

std::string_view to_string(BenchmarkMode mode) { return mode == BenchmarkMode::inference ? "infer" : "train"; }
std::string_view to_string(BenchmarkPrecision precision) {
  switch (precision) {
    case BenchmarkPrecision::float32:
      return "fp32";
    case BenchmarkPrecision::bfloat16:
      return "bf16";
    case BenchmarkPrecision::int8:
      return "int8";
  }
  return "";
}

BenchRow bench_row(const BenchCase& bench, const analysis::BenchmarkResult& result) {
  BenchRow row = case_fields(bench);
  row["median_ms"] = result.milliseconds.median;
  row["quartiles_ms"] = {result.milliseconds.lower, result.milliseconds.upper};
  row["samples_per_second"] = result.samples_per_second;
  // Other engines take their memory past LibTorch's allocator, which counts it.
  const auto bytes = [counted = is_run_by_libtorch(bench.model.name)](int64_t number) {
    return counted ? BenchRow(number) : BenchRow();
  };
  row["activation_bytes"] = bytes(result.activation_bytes);
  row["weight_bytes"] = bytes(result.weight_bytes);
  row["memory_bytes"] = bytes(result.activation_bytes + result.weight_bytes);
  row["weights"] = has_own_weights(bench.model) ? "stored" : "random";
  return row;
}

BenchRow error_row(const BenchCase& bench, const std::string& error) {
  BenchRow row = case_fields(bench);
  row["error"] = error;
  return row;
}

/// The benchmark observes memory and may free the model's: LibTorch warns of each block that it did not see allocated.
std::shared_ptr<models::Model> build_with_known_sizes(const BenchCase& bench) {
  const analysis::LiveMemory sees_allocations;
  return build_model(bench);
}

BenchRow measure_here(BenchCase bench) {
  while (true) {
    try {
      const std::shared_ptr<models::Model> model = build_with_known_sizes(bench);
      analysis::BenchmarkResult result = analysis::benchmark(*model, bench.options);
      // A session shows no parameters, and LibTorch's has them laid out and padded for its products.
      if (result.weight_bytes == 0 && runtime::is_export(bench.model.name) && is_run_by_libtorch(bench.model.name))
        result.weight_bytes = stored_weight_bytes(bench.model.name);
      return bench_row(bench, result);
    } catch (const std::exception& error) {
      if (!analysis::is_out_of_memory()) return error_row(bench, train::error_message(error));
      if (!halve_batch(bench)) return error_row(bench, "out of memory");
    }
  }
}

BenchRow measure_apart(BenchCase bench) {
  while (true) {
    const Finished child = run_again(arguments_of(bench));
    if (child.signal == SIGKILL) {  // the kernel ends it if memory is exhausted
      if (halve_batch(bench)) continue;
      return error_row(bench, "out of memory");
    }
    if (child.signal != 0) return error_row(bench, "ended by signal " + std::to_string(child.signal));
    BenchRow row = BenchRow::parse(child.output, nullptr, /*allow_exceptions=*/false);
    if (row.is_discarded() || !row.is_object()) return error_row(bench, last_line(child.errors));
    if (!row.contains("error")) std::cerr << child.errors;  // which batches did not fit
    if (!row.contains("results") || row["results"].size() != 1) return error_row(bench, last_line(child.errors));
    return row["results"].front();
  }
}

}  // namespace cachet::app
