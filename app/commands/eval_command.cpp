#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>

#include "app/arguments/ability.h"
#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/sample_arguments.h"
#include "app/commands/command.h"
#include "app/commands/data/data_location.h"
#include "app/output/counted_progress.h"
#include "app/output/json.h"
#include "app/output/output.h"
#include "app/output/prediction_folder.h"
#include "cachet/io/error.h"
#include "cachet/report/format.h"
#include "cachet/report/metric_description.h"
#include "cachet/report/text/terminal.h"
#include "cachet/report/uncertainty.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/language_modelling/language_evaluation.h"
#include "cachet/tasks/runs/run_record.h"
#include "cachet/train/inference/inference_scope.h"
#include "cachet/train/runs/data_notes.h"
#include "cachet/train/runs/event_log.h"
#include "cachet/train/runs/run_description.h"
#include "cachet/train/runs/run_folder.h"

namespace cachet::app {
namespace {

struct EvalArguments {
  SavedRunArgument model;
  std::string text;  // a file of the user, for tasks that score text
  OutputArgument output;
  std::optional<int64_t> limit;
  std::string progress = "auto";
  bool json = false;
};

/// What the metrics of an evaluation are, and on how many samples they were measured.
struct Evaluated {
  std::vector<report::MetricDescription> metrics{};
  int64_t samples = 0;
};

/// A row for each metric, with its standard error: "  top1          86.23 ± 0.83 %".
void print_metrics(const std::string& checkpoint, const train::Metrics& metrics, const std::string& samples,
                   const Evaluated& evaluated) {
  constexpr size_t kMinWidth = 13;
  const auto error_of = [&](const std::string& name) { return metrics.find(name + std::string(report::kErrorSuffix)); };
  const auto is_error = [&](const std::string& name) {
    return name.ends_with(report::kErrorSuffix) &&
           metrics.find(std::string_view(name).substr(0, name.size() - report::kErrorSuffix.size()));
  };
  size_t width = kMinWidth;
  for (const auto& [name, value] : metrics)
    if (!is_error(name)) width = std::max(width, name.size());
  std::cout << checkpoint << ", " << samples << '\n';
  for (const auto& [name, value] : metrics) {
    if (is_error(name)) continue;
    const report::MetricDescription metric = report::description_of(evaluated.metrics, name);
    std::cout << "  " << name << std::string(width + 1 - name.size(), ' ')
              << report::measured_text(metric, value, error_of(name), metric.share ? evaluated.samples : 0) << '\n';
  }
}

using Signatures = std::vector<std::pair<std::string, std::string>>;

Signatures signatures_of(const tasks::Task& task) {
  const auto* signs = dynamic_cast<const tasks::SignsScores*>(&task);
  return signs == nullptr ? Signatures() : signs->score_signatures();
}

/// As an evaluation of a text has them.
train::Metrics metrics_of_text(const tasks::ScoredLine& text) {
  tasks::LanguageEvaluation whole{.tokens = text.tokens, .loss = text.loss / static_cast<double>(text.tokens)};
  whole.text.text = text.text;
  whole.text.coded.targets = text.coded;
  return whole.metrics();
}

/// How likely a model finds the lines of a file: a line of JSON each, or the whole.
int eval_text(const EvalArguments& arguments) {
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.model.path, arguments.model.all_settings());
  const auto task = load(saved, arguments.model, tasks::Splits::given);
  auto& scores = capability_of<tasks::ScoresText>(*task, "score text");
  const train::InferenceScope inference(task->model(), {.precision = saved.plan.training.train.precision});
  const tasks::NextSample next = samples_of_lines(arguments.text);
  CountedProgress progress("eval", arguments.progress,
                           {.results_on_terminal = arguments.json && report::is_terminal(STDOUT_FILENO),
                            .asked_line_by_line = comes_line_by_line(arguments.text)});
  tasks::ScoredLine all;
  const auto next_line = [&]() -> std::optional<std::string> {
    auto line = next();
    if (!line) return std::nullopt;
    return std::move(line->text);
  };
  const auto seen = [&](const tasks::ScoredLine& line) {
    all.loss += line.loss;
    all.tokens += line.tokens;
    all.text += line.text;
    all.coded += line.coded;
    if (!arguments.json) return;
    const double mean = line.tokens == 0 ? 0.0 : line.loss / static_cast<double>(line.tokens);
    std::cout << json_line({{"schema", kSchema},
                            {"line", line.index + 1},
                            {"tokens", line.tokens},
                            {"loss", mean},
                            {"perplexity", std::exp(mean)},
                            {"bytes", line.text.bytes},
                            {"coded_bytes", line.coded.size.bytes},
                            {"unknown", line.coded.unknown}})
              << std::endl;
  };
  scores.score_text(next_line, seen, [&](int64_t scored) { progress.show(scored, "tokens"); });
  progress.finish();
  if (arguments.json) return kDone;
  if (all.tokens == 0) throw io::Error(arguments.text + ": holds no text");
  print_metrics(arguments.text, metrics_of_text(all),
                std::to_string(all.tokens) + " tokens, " + std::to_string(all.coded.unknown) + " of them unknown, by " +
                    saved.checkpoint.string(),
                {task->profile().metrics, all.tokens});
  return kDone;
}

/// Wilson's interval of each fraction that has a standard error.
nlohmann::ordered_json intervals_json(const train::Metrics& metrics, const Evaluated& evaluated) {
  nlohmann::ordered_json intervals = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics) {
    if (!report::description_of(evaluated.metrics, name).share || evaluated.samples < 1) continue;
    if (!metrics.find(name + std::string(report::kErrorSuffix))) continue;
    const auto interval = report::wilson_interval(value, static_cast<double>(evaluated.samples));
    intervals[name] = {{"lower", interval.lower}, {"upper", interval.upper}};
  }
  return intervals;
}

/// Evaluates by records that a folder keeps, so that what is there is not done again, and writes files of results where
/// the task has such.
train::Metrics eval_into_folder(tasks::Task& task, PredictionFolder& folder, const tasks::RecordSource& records,
                                CountedProgress& progress, std::vector<std::string>& written) {
  auto& evaluates = capability_of<tasks::EvaluatesRecords>(task, "save the result of each evaluation sample");
  const int64_t all = evaluates.evaluation_records();
  const std::string source = records.of_evaluation(task);
  for (const auto& [split, images] : task.image_sources()) images->keep_digests();
  const tasks::OriginOf origin = [&](int64_t index) {
    return tasks::RecordOrigin{source, evaluates.record_digest(index)};
  };
  tasks::RecordFile file = folder.open_records();
  tasks::require_all(
      file, origin, [&] { return records.old_sources_of_evaluation(task); },
      [&](int64_t index) {
        return tasks::RecordOrigin{source, evaluates.earlier_digest(index)};
      });
  file.require_at_most(all);
  report_earlier_records(folder.records(), file, " of " + std::to_string(all));
  int64_t done = file.done();
  if (done < all)
    evaluates.record_evaluation(done, [&](const tasks::Record& record) {
      file.append(record, origin(done));
      progress.show(++done, all);
    });
  progress.finish();
  const train::Metrics metrics = evaluates.evaluate_records(tasks::records_in(folder.records(), all));
  auto* results = dynamic_cast<tasks::WritesResults*>(&task);
  if (results == nullptr) {
    written.push_back(folder.records().string());
    return metrics;
  }
  const auto files = results->results_of_evaluation(tasks::records_in(folder.records(), all));
  folder.write(files);
  for (const tasks::NamedFile& each : files) written.push_back((folder.path() / each.name).string());
  return metrics;
}

/// Whether a run's best checkpoint is the best of several evaluations that looked at the data of this one.
bool chose_itself(const tasks::SavedRun& saved, const EvalArguments& arguments) {
  if (!arguments.model.data.empty() || !saved.plan.task->profile().reports_choice) return false;
  return train::is_run_folder(arguments.model.path) &&
         tasks::has_choice(train::read_event_file(train::RunFolder::open(saved.run).metrics()).events);
}

int run_eval(const EvalArguments& arguments) {
  if (!arguments.text.empty() && !arguments.output.path.empty())
    throw UsageError(
        "--text only prints results, but -o writes the results of an evaluation into files; leave one of the two out");
  if (!arguments.text.empty() && arguments.limit)
    throw UsageError("--text scores every line, but --limit works only with the test split; leave one of the two out");
  if (!arguments.text.empty()) return eval_text(arguments);
  const tasks::SavedRun saved =
      tasks::open_to_evaluate(arguments.model.path, arguments.model.all_settings(), arguments.limit);
  require_data(saved, arguments.model);
  std::optional<PredictionFolder> folder;
  if (!arguments.output.path.empty()) folder.emplace(arguments.output, std::vector<std::filesystem::path>{});
  const auto task = load(saved, arguments.model, tasks::Splits::test);
  const train::InferenceScope inference(task->model(), {.precision = saved.plan.training.train.precision});
  train::DataNotes notes(*task);
  CountedProgress progress("eval", arguments.progress);
  const auto show = [&](int64_t done, int64_t total) { progress.show(done, total); };
  std::vector<std::string> written;
  // Predictions are other records: what an evaluation sums up is not all in them.
  const train::Metrics metrics =
      folder ? eval_into_folder(*task, *folder, {saved, {}, "evaluation"}, progress, written) : task->evaluate(show);
  progress.finish();
  for (const std::string& line : notes.take_new()) progress.log(line);
  auto evaluated = task->evaluated_samples();
  evaluated.count = train::counted_samples(evaluated.count, metrics);
  const bool chosen_here = chose_itself(saved, arguments);
  if (!arguments.json) {
    const std::string samples =
        train::evaluated_text(task->sample_words(), evaluated.count, evaluated.split) + where_data_lie(saved.plan);
    if (const auto* tabulates = dynamic_cast<const tasks::TabulatesEvaluation*>(task.get()))
      std::cout << saved.checkpoint.string() << ", " << samples << '\n' << tabulates->evaluation_table();
    else
      print_metrics(saved.checkpoint.string(), metrics, samples, {task->profile().metrics, evaluated.count});
    for (const auto& [name, signature] : signatures_of(*task)) std::cout << "  " << name << ": " << signature << '\n';
    if (chosen_here) std::cerr << train::choice_note(task->sample_words()) << '\n';
    for (const std::string& file : written) std::cout << file << '\n';
    return kDone;
  }
  nlohmann::ordered_json values = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics) values[name] = value;
  nlohmann::ordered_json json{{"schema", kSchema},
                              {"checkpoint", saved.checkpoint.string()},
                              {task->sample_words().many, evaluated.count},
                              {"of", evaluated.split},
                              {"split", task->sample_words().held_out},
                              {"chose_the_checkpoint", chosen_here},
                              {"metrics", std::move(values)}};
  auto intervals = intervals_json(metrics, {task->profile().metrics, evaluated.count});
  if (!intervals.empty()) json["intervals"] = std::move(intervals);
  for (const auto& [name, signature] : signatures_of(*task)) json["signatures"][name] = signature;
  if (folder) json["files"] = written;
  print_json(json);
  return kDone;
}

Action declare_eval(CLI::App& app) {
  auto arguments = std::make_shared<EvalArguments>();
  add_saved_run(app, arguments->model);
  app.add_option("--text", arguments->text,
                 "Evaluate a language model on this text instead of the test split; - is standard input")
      ->type_name("FILE");
  add_number(
      app, "--limit", arguments->limit,
      "Evaluate at most N samples of the test split (for a language model: at most N tokens, like the key data.limit)",
      {1})
      ->type_name("N");
  add_output(app, arguments->output,
             "Folder for the result of each sample. For detection, the folder also gets results in COCO's format. If "
             "an evaluation is interrupted, the same command resumes it from this folder",
             "FOLDER");
  app.add_flag("--json", arguments->json, "Print one JSON object; with --text, one object for each line of the text");
  add_progress_option(app, arguments->progress);
  return [arguments] { return run_eval(*arguments); };
}

const Registration registered_eval({Topic::runs,
                                    "eval",
                                    "Evaluate a trained model on the test split",
                                    {"cachet eval my-run", "cachet eval my-run --limit 200 --json",
                                     "cachet eval my-run --data my-images"},
                                    declare_eval});

}  // namespace
}  // namespace cachet::app
