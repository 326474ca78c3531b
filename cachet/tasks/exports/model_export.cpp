#include "cachet/tasks/exports/model_export.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "cachet/config/toml_text.h"
#include "cachet/deploy/classifier_inputs.h"
#include "cachet/deploy/model_writers.h"
#include "cachet/deploy/portable_model.h"
#include "cachet/io/digests/sha256.h"
#include "cachet/io/files/atomic_file.h"
#include "cachet/io/files/new_folder.h"
#include "cachet/io/files/read_file.h"
#include "cachet/io/tensors/safetensors/safetensors.h"
#include "cachet/io/tensors/state_dict.h"
#include "cachet/models/language/translation_model.h"
#include "cachet/models/vision/image_model.h"
#include "cachet/nn/attention/attention_function.h"
#include "cachet/nn/plug_in.h"
#include "cachet/report/format.h"
#include "cachet/report/page/html.h"
#include "cachet/runtime/open_session.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/exports/export_comparison.h"
#include "cachet/tasks/exports/export_metadata.h"
#include "cachet/tasks/exports/export_page.h"
#include "cachet/tasks/exports/export_problem.h"
#include "cachet/tasks/exports/exported_model.h"
#include "cachet/tasks/exports/finite_answers.h"
#include "cachet/tasks/exports/padded_answers.h"
#include "cachet/tasks/exports/rewritten_export.h"
#include "cachet/tasks/note_filter.h"
#include "cachet/tasks/weights/model_folder.h"
#include "cachet/train/machine/environment.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::tasks {
namespace {

namespace fs = std::filesystem;
using runtime::EngineKind, runtime::ExportManifest;

constexpr uint64_t kMaxFileBytes = uint64_t{1} << 40;
// Ranges of numbers are means over batches: of 16 batches of 16 samples.
constexpr int64_t kCalibrationSamples = 256;
const std::vector<std::string> kCalibrationSettings{"train.batch_size=16"};

std::vector<std::string> with(std::vector<std::string> settings, const std::vector<std::string>& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

ClassificationTask& classification(Task& task) { return dynamic_cast<ClassificationTask&>(task); }

void require_exportable(Task& task, EngineKind engine, runtime::Precision precision) {
  for (const auto& module : task.model().named_modules()) {
    if (const auto* plug_in = dynamic_cast<const nn::PlugIn*>(module.value().get()))
      if (!plug_in->why_not_exported().empty())
        throw std::runtime_error(module.key() + ": " + plug_in->why_not_exported());
    if (precision == runtime::Precision::bfloat16)
      if (const auto* function = dynamic_cast<const nn::AttentionFunction*>(module.value().get()))
        if (function->chooses_keys_by_value())
          throw std::runtime_error(
              module.key() +
              ": chooses keys by the values of tokens, and rounding these values to bfloat16 may change the "
              "choice; use --precision f32");
  }
  if (dynamic_cast<ClassificationTask*>(&task) != nullptr) return;
  const std::string whose = "a task of kind '" + task.profile().kind + "' ";
  const auto* rewritten = dynamic_cast<ExportsRewrittenModel*>(&task);
  if (rewritten == nullptr) throw std::runtime_error(whose + "cannot be exported");
  if (engine != EngineKind::torch)
    throw std::runtime_error(whose + "cannot be exported for " + std::string(to_string(engine)) +
                             ": its model is not a fixed graph, because it " + rewritten->why_no_graph() +
                             "; use --engine torch");
}

// An ONNX file is compared with its model by OpenVINO.
void require_openvino(EngineKind engine) {
  if (engine == EngineKind::torch) return;
  if (const std::string problem = runtime::openvino_problem(); !problem.empty())
    throw std::runtime_error((engine == EngineKind::onnx
                                  ? "OpenVINO is needed to compare an ONNX file with its model, but "
                                  : "an export for the engine openvino needs OpenVINO, but ") +
                             problem);
}

// Of a model that is not a graph: tokens, or images; batch and length, or sides, are free.
std::vector<runtime::ExportedInput> free_inputs(const models::Model& model) {
  const auto tokens = [](const char* name) { return runtime::ExportedInput{name, runtime::Element::int64, {-1, -1}}; };
  if (dynamic_cast<const models::TranslationModel*>(&model) != nullptr) return {tokens("source_ids"), tokens("ids")};
  if (const auto* images = dynamic_cast<const models::ImageModel*>(&model))
    return {{"images", runtime::Element::float32, {-1, images->image_shape().channels, -1, -1}}};
  return {tokens("ids")};
}

// Every file of the folder with its digest.
void add_files(ExportReport& report, const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    const auto bytes = io::read_file(entry.path(), kMaxFileBytes);
    report.manifest.files[entry.path().filename().string()] = io::sha256_hex(bytes);
    report.bytes += static_cast<int64_t>(bytes.size());
  }
}

// Runs training samples through a session instead of the model.
void calibrate(const ExportSource& source, const runtime::ExportManifest& manifest,
               std::unique_ptr<runtime::Session> session, const ExportProgress& progress) {
  const SavedRun saved = open_saved_run(source.path, with(source.settings, kCalibrationSettings));
  const auto once = std::make_shared<std::unique_ptr<runtime::Session>>(std::move(session));
  const RecipePlan plan = with_fewer_samples(saved.plan, kCalibrationSamples);
  const auto task = with_sessions(
                        plan, manifest, [once] { return std::move(*once); }, saved.run.string())
                        .build(Splits::calibration);
  task->model().eval();
  int64_t done = 0;
  classification(*task).classify_in_order(0, [&](const ClassifiedBatch& batch) {
    progress(ExportPart::calibration, done += batch.labels.size(0), task->evaluation_size());
  });
}

// An engine may lack what computes a length, and take the model at one length.
deploy::WrittenModel write_with_lengths(
    const std::shared_ptr<models::Model>& model,
    const std::function<deploy::WrittenModel(const deploy::PortableModel& portable)>& write) {
  const deploy::PortableModel portable = deploy::make_portable(model);
  try {
    return write(portable);
  } catch (const deploy::CannotConvert& error) {
    const runtime::ExportedInput& first = portable.inputs.front();
    const bool has_free_length = first.longest > 1 && first.shape.at(1) < 0;
    if (!has_free_length) throw;
    deploy::WrittenModel written = write(deploy::make_portable(model, deploy::FreeLengths::never));
    written.notes.push_back(deploy::filled_note(first.longest, error));
    return written;
  }
}

void write_model(const SavedRun& saved, Task& task, const ExportSource& source, const fs::path& folder,
                 ExportReport& report, const ExportProgress& progress) {
  const auto model = saved.plan.model().build();
  const io::TensorMap weights = io::state_dict(task.model());
  for (const auto& [name, tensor] : weights) report.model_bytes += static_cast<int64_t>(tensor.nbytes());
  io::load_state_dict(*model, weights);
  model->eval();
  require_finite_answers(*model, saved.checkpoint.string());
  report.layers_before = analysis::summarize(*model).layers;
  report.rewrite = deploy::rewrite(*model, {.count_work = true});
  report.layers_after = analysis::summarize(*model).layers;
  runtime::ExportManifest& manifest = report.manifest;
  manifest.made_by = "Cachet " + train::cachet_version() + ", ";
  if (manifest.engine == EngineKind::torch) {
    const bool free = dynamic_cast<ExportsRewrittenModel*>(&task) != nullptr;
    manifest.inputs = free ? free_inputs(*model) : deploy::inputs_of(*model);
    manifest.made_by += "LibTorch " + train::torch_version();
    io::write_new_file(folder / std::string(runtime::model_file(manifest.engine)),
                       io::serialize_safetensors(io::state_dict(*model)));
    return;
  }
  const deploy::ModelMetadata metadata = metadata_of(manifest);
  deploy::OpenVinoOptions options{.precision = manifest.precision};
  if (manifest.precision == runtime::Precision::int8)
    options.calibrate = [&](std::unique_ptr<runtime::Session> session) {
      calibrate(source, manifest, std::move(session), progress);
    };
  auto* sequences = dynamic_cast<models::SequenceClassifier*>(model.get());
  const auto write = [&](const deploy::PortableModel& portable) {
    const bool pads = sequences != nullptr && portable.inputs.front().shape[1] >= 0;
    if (pads) require_no_effect_of_padding(*sequences);
    manifest.inputs = portable.inputs;
    return manifest.engine == EngineKind::onnx ? deploy::write_for_onnx(portable, folder, metadata)
                                               : deploy::write_for_openvino(portable, folder, metadata, options);
  };
  const deploy::WrittenModel written = write_with_lengths(model, write);
  manifest.made_by += written.made_by;
  report.notes.insert(report.notes.end(), written.notes.begin(), written.notes.end());
}

// Automatic casts no longer affect the precision of a session. A rewritten model has no session, and is cast
// by whoever runs it.
std::string exported_recipe(const SavedRun& saved, const std::vector<std::string>& settings, bool casts) {
  config::Document recipe = config::Document::from_text(saved.recipe, "the recipe of " + saved.run.string());
  for (const std::string& setting : settings) recipe.set(setting);
  recipe.set(casts ? "train.precision=bf16" : "train.precision=fp32");
  read_recipe(recipe, data::DataRoot::optional);
  return recipe.resolved_toml(/*with_origins=*/false);
}

std::string clauses(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += (text.empty() ? "" : "; ") + each;
  return text;
}

// The model, with what the run does not know itself (such as the names of its classes) of the data that are named.
SavedRun open_exported(const ExportSource& source, const RecipePlan& asked) {
  std::vector<std::string> settings = settings_to_keep(source.settings);
  if (!asked.task->absent_data())
    for (const DataPlace& place : asked.task->data())
      settings.push_back("data.root=" + config::toml_text(place.root.string()));
  return open_saved_run(source.path, settings);
}

// Writes what the folder computes with, compares it with the model, and times both.
void write_compared(const ExportSource& source, const ExportOptions& options, const SavedRun& saved, Task& task,
                    const fs::path& folder, ExportReport& report, const ExportProgress& progress) {
  write_model(saved, task, source, folder, report, progress);
  const SavedRun own = open_saved_run(source.path, settings_to_keep(source.settings));
  const SavedFiles keep = saved.plan.task->files_to_keep();
  // The manifest has the names of a classifier's classes, and its engine has the precision. Of other tasks the recipe
  // has both.
  const bool is_classifier = dynamic_cast<ClassificationTask*>(&task) != nullptr;
  const bool casts = !is_classifier && options.precision == runtime::Precision::bfloat16;
  io::write_new_file(folder / runtime::kExportRecipe,
                     exported_recipe(own, is_classifier ? std::vector<std::string>() : keep.settings, casts));
  for (const auto& [name, bytes] : keep.files) io::write_new_file(folder / name, bytes);
  // Twice: the page has the result of the comparison, which reads the folder.
  add_files(report, folder);
  io::write_new_file(folder / runtime::kExportManifest, to_json(report.manifest));
  report.check = compare_export(source, options, folder, progress);
  if (!report.check.holds())
    throw std::runtime_error(
        "the export differs too much from its model, so it was not saved: " + to_text(report.check) +
        ". It breaks these bounds: " + clauses(report.check.broken_bounds()));
  if (saved.plan.training.train.precision == train::Precision::bfloat16)
    report.notes.emplace_back(
        "the run computes in bf16. The export is compared with its model in float32, not with the run's bf16 "
        "predictions");
  report.speed = compare_speed(saved, open_saved_run(folder, source.settings_of_export()));
}

}  // namespace

const char* to_string(ExportPart part) { return part == ExportPart::calibration ? "calibrate" : "compare"; }

void check_export_options(const ExportOptions& options) {
  using runtime::Precision;
  if (options.precision == Precision::int8 && options.engine != EngineKind::openvino)
    throw std::invalid_argument("int8 needs the engine openvino, because the other engines do not multiply in 8 bits");
  if (options.precision != Precision::float32 && options.engine == EngineKind::onnx)
    throw std::invalid_argument(
        "the numbers of an ONNX file are float32, and the program that runs the file chooses the precision; leave "
        "--precision out");
}

std::vector<std::string> ExportSource::settings_of_export() const {
  std::vector<std::string> others = settings;
  std::erase_if(others, [](const std::string& setting) { return fixed_key(setting).has_value(); });
  return others;
}

std::string export_source(const SavedRun& saved) {
  if (saved.exported)
    throw io::Error(saved.run.string() + ": is already an export; name the run or model that was exported");
  return is_model_folder(saved.run) ? "model " + model_folder_digest(saved.run)
                                    : "run " + train::RunFolder::open(saved.run).id();
}

ExportReport export_model(const ExportSource& source, const ExportOptions& options, const fs::path& target,
                          const ExportProgress& progress) {
  check_export_options(options);
  const NoteFilter once(NoteFilter::Prints::each_once);  // the run and its export are opened several times
  const SavedRun asked = open_saved_run(source.path, source.settings);
  const std::string made_of = export_source(asked);
  const auto absent = asked.plan.task->absent_data();
  if (absent && options.precision == runtime::Precision::int8)
    throw io::Error("int8 needs samples of the training data, to measure the range of the model's numbers: " + *absent);
  const SavedRun saved = open_exported(source, asked.plan);
  const auto task = load(saved, Splits::given);
  require_exportable(*task, options.engine, options.precision);
  require_openvino(options.engine);

  io::NewFolder folder(target, io::NewFolder::Taken::replaced);
  ExportReport report;
  if (absent)
    report.notes.push_back("the export is compared on random inputs, because the data are absent: " + *absent);
  if (auto note = untrained_note(saved.run)) report.notes.push_back(*std::move(note));
  report.manifest.engine = options.engine;
  report.manifest.precision = options.precision;
  report.manifest.task = task->profile().kind;
  report.manifest.model = saved.plan.model().name;
  report.manifest.source = made_of;
  report.manifest.weights = weights_digest(saved);
  report.manifest.untrained = untrained_parts(saved.run);
  if (const auto* classifier = dynamic_cast<const ClassificationTask*>(task.get())) {
    report.manifest.classes = classifier->class_names();
    report.manifest.image = classifier->image_preparation();
    if (classifier->lacks_class_names())
      report.notes.emplace_back(
          "the export has numbers instead of class names, because the model does not store names and its data are "
          "absent. To add names, export again with --data FOLDER, or with --set data.class_names");
  }
  try {
    write_compared(source, options, saved, *task, folder.path(), report, progress);
  } catch (...) {
    throw_export_problem(saved, options.engine, options.precision);
  }
  const std::string page = report::render_html(export_page(report));
  io::write_new_file(folder.path() / runtime::kExportReport, page);
  folder.finish();
  return report;
}

std::vector<std::string> report_lines(const ExportReport& report) {
  std::vector<std::string> lines{"engine " + std::string(to_string(report.manifest.engine)) + ", precision " +
                                 std::string(to_string(report.manifest.precision))};
  const std::vector<std::string> rewritten = deploy::report_lines(report.rewrite, [](const analysis::Work& saved) {
    return "saves " + report::format_count(static_cast<double>(std::max<int64_t>(0, saved.operations))) +
           " operations and moves " + report::format_bytes(std::max<int64_t>(0, saved.bytes)) + " less for each sample";
  });
  lines.insert(lines.end(), rewritten.begin(), rewritten.end());
  const auto &before = report.rewrite.before, &after = report.rewrite.after;
  const auto operations_of = [](const deploy::Footprint& footprint) {
    return report::format_count(static_cast<double>(footprint.work.operations)) + " operations and " +
           report::format_bytes(footprint.work.bytes) + " of memory traffic";
  };
  const auto size_of = [](const deploy::Footprint& footprint, const char* what) {
    return report::format_count(static_cast<double>(footprint.parameters)) + what + " (" +
           report::format_bytes(footprint.bytes) + ")";
  };
  lines.push_back(size_of(before, " parameters") + " became " + size_of(after, ""));
  lines.push_back("a sample now takes " + operations_of(after) + "; before, it took " + operations_of(before));
  lines.insert(lines.end(), report.notes.begin(), report.notes.end());
  lines.push_back(to_text(report.check));
  lines.push_back(to_text(report.speed));
  lines.push_back("the files of the export have " + report::format_bytes(report.bytes) +
                  ", and the model's weights have " + report::format_bytes(report.model_bytes));
  return lines;
}

}  // namespace cachet::tasks
