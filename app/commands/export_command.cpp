#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include "app/arguments/common_arguments.h"
#include "app/arguments/one_of.h"
#include "app/arguments/recipe_argument.h"
#include "app/commands/command.h"
#include "app/commands/import_json.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/weights_output.h"
#include "cachet/io/error.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/runtime/open_session.h"
#include "cachet/tasks/exports/export_comparison.h"
#include "cachet/tasks/exports/model_export.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/tasks/weights/weight_export.h"

namespace cachet::app {
namespace {

namespace fs = std::filesystem;
using runtime::EngineKind, runtime::Precision;

constexpr const char* kWeightsSuffix = ".safetensors";

struct ExportArguments {
  SavedRunArgument model;
  std::string names;
  std::optional<std::string> precision, engine;  // of a folder
  bool check_all = false;
  OutputArgument output;
  bool json = false;
  std::string progress = "auto";

  bool asks_for_weights() const { return fs::path(output.path).extension() == kWeightsSuffix; }
};

const std::map<std::string, EngineKind> kEngines{
    {"onnx", EngineKind::onnx}, {"openvino", EngineKind::openvino}, {"torch", EngineKind::torch}};
const std::map<std::string, Precision> kPrecisions{
    {"bf16", Precision::bfloat16}, {"f32", Precision::float32}, {"int8", Precision::int8}};

/// The engine of a folder, where the command line names none. It loads OpenVINO if it can.
const char* usual_engine() { return runtime::openvino_version().empty() ? "torch" : "openvino"; }

/// An option that was given and that weights alone have no use for; empty where there is none.
std::string option_of_folders(const ExportArguments& arguments) {
  if (arguments.precision) return "--precision";
  if (arguments.engine) return "--engine";
  if (arguments.check_all) return "--check";
  if (!arguments.model.data.empty()) return "--data";
  if (!arguments.model.settings.empty()) return "--set";
  return "";
}

int export_weights(const ExportArguments& arguments) {
  if (const std::string option = option_of_folders(arguments); !option.empty())
    throw UsageError(option + " works only if -o is a folder, because a file of weights (" + kWeightsSuffix +
                     ") always has the unchanged weights; leave this option out");
  const tasks::SavedModel saved = tasks::open_saved_model(arguments.model.path);
  if (const auto note = tasks::untrained_note(arguments.model.path)) std::cerr << *note << '\n';
  const std::string& output = arguments.output.path;
  require_file_output(arguments.output,
                      {{kWeightsSuffix}, {}, [&](const auto& file) { return holds_weights_of(file, saved.source); }});
  const io::NameSource source = io::name_source(arguments.names).value_or(tasks::usual_names(saved.plan));
  const std::string names(io::to_string(source));
  const io::TensorMap tensors = tasks::export_weights(saved, source);
  io::write_safetensors(output, tensors, weights_metadata(saved.plan.name, saved.source));
  if (const auto note = tasks::note_on_names(saved, source, tensors)) std::cerr << *note << '\n';
  if (arguments.json) {
    std::vector<std::string> written;
    for (const auto& [name, tensor] : tensors) written.push_back(name);
    const nlohmann::ordered_json json{
        {"schema", kSchema}, {"model", saved.plan.name}, {"names", names}, {"tensors", written}, {"output", output}};
    print_json(json);
    return kDone;
  }
  std::cout << tensors.size() << " tensors of " << saved.plan.name << " under the names of " << names << '\n'
            << output << '\n';
  return kDone;
}

/// Whether the folder is an export of the same run or model, be it of another checkpoint or for another engine.
bool is_folder_of(const fs::path& folder, const std::string& source) {
  try {
    return runtime::read_export_manifest(folder).source == source;
  } catch (const io::Error&) {
    return false;
  }
}

nlohmann::ordered_json export_json(const tasks::ExportReport& report, const std::string& output) {
  const tasks::ExportCheck& check = report.check;
  const deploy::Footprint &before = report.rewrite.before, &after = report.rewrite.after;
  nlohmann::ordered_json json{{"schema", kSchema},
                              {"model", report.manifest.model},
                              {"engine", to_string(report.manifest.engine)},
                              {"precision", to_string(report.manifest.precision)},
                              {"rewritten", nlohmann::ordered_json::array()},
                              {"parameters", {before.parameters, after.parameters}},
                              {"operations", {before.work.operations, after.work.operations}},
                              {"bytes_moved", {before.work.bytes, after.work.bytes}},
                              {"notes", report.notes},
                              {"compared_on", check.samples},
                              {"largest_difference", check.equality.difference},
                              {"same_class", check.equality.samples - check.equality.other},
                              {"samples", check.equality.samples}};
  if (check.sent.samples > 0)
    json["sent"] = {{"compared_on", check.sent_inputs},
                    {"largest_difference", check.sent.difference},
                    {"same_class", check.sent.samples - check.sent.other},
                    {"samples", check.sent.samples}};
  if (check.has_metric) json[check.metric] = {check.metric_before, check.metric_after};
  for (const deploy::RewrittenPart& place : report.rewrite.parts)
    json["rewritten"].push_back({{"place", place.path},
                                 {"kind", to_string(place.kind)},
                                 {"left", place.left},
                                 {"why", place.reason},
                                 {"operations_removed", place.removed.operations},
                                 {"bytes_removed", place.removed.bytes}});
  const tasks::ExportSpeed& speed = report.speed;
  const analysis::Quartiles& ratio = speed.times_as_fast;
  json["speed"] = {{"batch", speed.batch},
                   {"pairs", speed.pairs},
                   {"median_ms", {speed.model_milliseconds, speed.export_milliseconds}},
                   {"times_as_fast", ratio.median},
                   {"quartiles_times_as_fast", {ratio.lower, ratio.upper}},
                   {"comparable", speed.is_comparable()}};
  json["bytes"] = report.bytes;
  json["model_bytes"] = report.model_bytes;
  json["output"] = output;
  return json;
}

/// A line for each part, one after the other.
class PartsProgress {
 public:
  explicit PartsProgress(std::string word) : word_(std::move(word)) {}

  void show(tasks::ExportPart part, int64_t done, int64_t total) {
    if (part_ != part) {
      finish();
      line_.emplace(tasks::to_string(part), word_);
      part_ = part;
    }
    line_->show(done, total);
  }
  void finish() {
    if (line_) line_->finish();
  }

 private:
  std::string word_;
  std::optional<tasks::ExportPart> part_;
  std::optional<CountedProgress> line_;
};

int export_folder(const ExportArguments& arguments) {
  const fs::path output = arguments.output.path;
  if (output.has_extension() && !fs::is_directory(output))
    throw UsageError(
        output.string() +
        ": -o must be a folder whose name has no ending. The model is written into this folder (with --engine onnx, as "
        "model.onnx). To write only the weights, give a file that ends in " +
        kWeightsSuffix);
  if (!arguments.names.empty())
    throw UsageError(std::string("--names works only with a file of weights (-o FILE") + kWeightsSuffix + ")");
  const tasks::ExportSource source{arguments.model.path, arguments.model.all_settings()};
  const std::string made_of = tasks::export_source(tasks::open_saved_run(source.path, source.settings));
  require_folder_output(arguments.output,
                        {{}, {source.path}, [&](const auto& folder) { return is_folder_of(folder, made_of); }},
                        runtime::is_export_alone);
  const tasks::ExportOptions options{kEngines.at(arguments.engine.value_or(usual_engine())),
                                     kPrecisions.at(arguments.precision.value_or("f32")), arguments.check_all};
  try {
    tasks::check_export_options(options);
  } catch (const std::invalid_argument& problem) {
    throw UsageError(problem.what());
  }
  PartsProgress progress(arguments.progress);
  const tasks::ExportReport report = tasks::export_model(
      source, options, output,
      [&](tasks::ExportPart part, int64_t done, int64_t total) { progress.show(part, done, total); });
  progress.finish();
  if (arguments.json) {
    print_json(export_json(report, output.string()));
    return kDone;
  }
  for (const std::string& line : tasks::report_lines(report)) std::cout << line << '\n';
  std::cout << output.string() << '\n';
  return kDone;
}

int run_export(const ExportArguments& arguments) {
  return arguments.asks_for_weights() ? export_weights(arguments) : export_folder(arguments);
}

Action declare_export(CLI::App& app) {
  auto arguments = std::make_shared<ExportArguments>();
  add_saved_model(app, arguments->model, "Folder of a run (its best checkpoint is used), a checkpoint or a model");
  add_output(app, arguments->output, "The folder to write, or a .safetensors file for the weights alone", "PATH")
      ->required();
  app.add_option(
         "--engine", arguments->engine,
         "Engine that will run the exported model (default: openvino if OpenVINO is installed, otherwise torch)")
      ->check(one_of(kEngines))
      ->type_name("ENGINE");
  app.add_option("--precision", arguments->precision, "Number format of the exported model (default: f32)")
      ->check(one_of(kPrecisions))
      ->type_name("PRECISION");
  app.add_flag("--check", arguments->check_all,
               "Compare outputs and accuracy of the export and of the model on all evaluation data. Without this "
               "option, only outputs on 256 samples are compared");
  add_names_option(app, "--names", arguments->names,
                   "For a .safetensors file: the code base whose tensor names are used (default: timm for image "
                   "models, cachet for text models)");
  app.add_flag("--json", arguments->json, "Print one JSON object");
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_export(*arguments); };
}

const Registration registered_export(
    {Topic::models,
     "export",
     "Write a model for fast inference in an engine, or its weights with the tensor names of another code base",
     {"cachet export my-run -o deployed --check", "cachet export my-run -o deployed --engine torch --precision bf16",
      "cachet export my-run -o deit.safetensors --names timm"},
     declare_export});

}  // namespace
}  // namespace cachet::app
