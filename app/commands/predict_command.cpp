#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "app/arguments/ability.h"
#include "app/arguments/common_arguments.h"
#include "app/arguments/number_option.h"
#include "app/arguments/recipe_argument.h"
#include "app/arguments/sample_arguments.h"
#include "app/commands/command.h"
#include "app/commands/data/data_location.h"
#include "app/output/counted_progress.h"
#include "app/output/output.h"
#include "app/output/prediction_folder.h"
#include "app/output/prediction_rows.h"
#include "cachet/data/data_digest.h"
#include "cachet/io/error.h"
#include "cachet/report/format.h"
#include "cachet/report/program_name.h"
#include "cachet/report/shell_word.h"
#include "cachet/report/text/terminal.h"
#include "cachet/tasks/classification/classification_task.h"
#include "cachet/tasks/evaluated_run.h"
#include "cachet/tasks/samples/given_records.h"
#include "cachet/tasks/samples/records.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/inference/inference_scope.h"

namespace cachet::app {
namespace {

constexpr double kUsualLeastScore = 0.3;

struct PredictArguments {
  SavedRunArgument model;
  OutputArgument output;
  std::vector<std::string> samples;  // names of image files, or texts
  std::string lines;                 // a file of such
  std::optional<int64_t> top;
  bool logits = false, json = false;
  std::optional<double> least_score;  // of what is drawn
  std::string progress = "auto";

  bool gives_samples() const { return !samples.empty() || !lines.empty(); }
  bool asks_line_by_line() const { return !lines.empty() && comes_line_by_line(lines); }
  std::vector<std::filesystem::path> inputs() const {
    std::vector<std::filesystem::path> read(samples.begin(), samples.end());
    if (!lines.empty()) read.emplace_back(lines);
    return read;
  }
  tasks::AnswerOptions answers() const {
    tasks::AnswerOptions options{.logits = logits};
    if (top) options.top = *top;
    return options;
  }
};

/// Where records go: a file that grows, or standard output.
class RecordOutput {
 public:
  RecordOutput(const OutputArgument& output, const std::vector<std::filesystem::path>& inputs,
               tasks::RecordSource source)
      : path_(output.path), replaces_(output.overwrite), source_(std::move(source)) {
    if (path_.empty()) return;
    // Its records name their run.
    require_file_output(output, {{".jsonl"}, inputs, [](const auto&) { return true; }});
  }

  /// From here on, records on standard output are rows for people.
  void print_rows(std::vector<std::string> class_names, int columns) { rows_.emplace(std::move(class_names), columns); }

  /// Before the first record: reads those of a file that is resumed. A file that is replaced stays until there is a
  /// record to write.
  void open() {
    if (!path_.empty() && !replaces_) file_.emplace(path_, tasks::EarlierRecords::resumed);
  }
  /// After the last record.
  void finish() {
    if (!path_.empty()) file();
  }

  int64_t done() const { return file_ ? file_->done() : 0; }
  const tasks::RecordSource& source() const { return source_; }

  /// The file that is resumed; null if there is none.
  tasks::RecordFile* earlier() { return file_ ? &*file_ : nullptr; }
  void require_at_most(int64_t samples) const {
    if (file_) file_->require_at_most(samples);
  }

  /// The origin is asked for where it is recorded.
  void write(const tasks::Record& record, const std::function<tasks::RecordOrigin()>& origin) {
    if (!path_.empty()) {
      file().append(record, origin());
    } else if (!(std::cout << (rows_ ? rows_->row(record) : record) << std::flush)) {
      throw std::runtime_error("cannot write to standard output");
    }
  }

  /// Before the first record that is new: how many of how many are there.
  void say_done(const std::string& of_all) const {
    if (file_) report_earlier_records(path_, *file_, of_all);
  }

 private:
  tasks::RecordFile& file() {
    if (!file_) file_.emplace(path_, tasks::EarlierRecords::replaced);
    return *file_;
  }

  std::string path_;
  bool replaces_;
  tasks::RecordSource source_;
  std::optional<tasks::RecordFile> file_;
  std::optional<PredictionRows> rows_;
};

/// A file's name where a text should be is a text too, but hardly what was meant.
void warn_of_files(const std::vector<std::string>& texts) {
  std::error_code error;
  for (const std::string& text : texts)
    if (std::filesystem::is_regular_file(text, error))
      std::cerr
          << io::in_quotes(text)
          << " is the name of a file, but is classified as a text; to classify the lines of the file, use --lines "
          << report::shell_word(text) << '\n';
}

tasks::NextSample given_samples(const PredictArguments& arguments, tasks::SampleForm form) {
  if (!arguments.lines.empty()) return samples_of_lines(arguments.lines);
  if (form == tasks::SampleForm::text) warn_of_files(arguments.samples);
  return samples_of_arguments(arguments.samples, form);
}

/// The origin of the record of a sample that was read.
tasks::RecordOrigin origin_of(const tasks::PreparedSample& sample, tasks::SampleForm form,
                              const tasks::RecordSource& source) {
  const bool was_not_read = form == tasks::SampleForm::image_file && sample.digest.empty();
  return source.of_given(sample.given, form, was_not_read ? data::digest_of_image_file(sample.given) : sample.digest);
}

void predict_given(tasks::Task& task, const PredictArguments& arguments, RecordOutput& output,
                   CountedProgress& progress) {
  auto& answers = capability_of<tasks::Predictor>(task, "predict on your samples");
  const tasks::SampleForm form = answers.sample_form();
  tasks::GivenOptions options{arguments.answers()};
  if (arguments.asks_line_by_line()) options.batch = 1;
  output.open();
  tasks::NextSample next = given_samples(arguments, form);
  std::optional<tasks::GivenRecords> earlier;
  if (tasks::RecordFile* file = output.earlier()) {
    const auto locations = arguments.asks_line_by_line() ? tasks::SampleLocations::same : tasks::SampleLocations::any;
    earlier.emplace(*file, next, form, output.source(), locations);
    next = earlier->samples();
  }
  bool has_new = false;
  const int64_t count = tasks::answer_all_given(
      answers, next, options, [&](int64_t index, const std::string&) { return earlier && earlier->has(index); },
      [&](const tasks::PreparedSample& sample, const tasks::Record& record) {
        if (!std::exchange(has_new, true)) output.say_done("");
        const auto origin = [&] { return origin_of(sample, form, output.source()); };
        if (earlier)
          earlier->append(record, sample.index, origin());
        else
          output.write(record, origin);
        progress.show(sample.index + 1, "samples");
      });
  progress.finish();
  if (earlier)
    earlier->finish(count);
  else
    output.finish();
  if (!has_new) output.say_done(" of " + std::to_string(count));
  for (const std::string& note : answers.notes_on_given()) std::cerr << note << '\n';
}

/// Number of records of samples that could not be read.
int64_t count_unreadable(const tasks::NextRecord& next) {
  int64_t count = 0;
  while (const auto record = next()) count += nlohmann::json::parse(*record).contains("error") ? 1 : 0;
  return count;
}

/// Pictures with what was found drawn over them, and files of results: all that a folder holds of given samples.
int predict_into_folder(tasks::Task& task, const PredictArguments& arguments, PredictionFolder& folder,
                        const tasks::RecordSource& source, CountedProgress& progress) {
  auto& answers = capability_of<tasks::Predictor>(task, "predict on your samples");
  auto& draws = capability_of<tasks::DrawsAnswers>(
      task, "draw predictions into a folder (-o FILE.jsonl writes predictions to a file)");
  const tasks::SampleForm form = answers.sample_form();
  const double least_score = arguments.least_score.value_or(kUsualLeastScore);
  const tasks::NextSample given = given_samples(arguments, form);
  tasks::RecordFile records = folder.open_records();  // after all that may fail: what is replaced goes now
  // Names of pictures depend on the order of the samples.
  tasks::GivenRecords earlier(records, given, form, source, tasks::SampleLocations::same);
  tasks::GivenOptions options{arguments.answers()};
  options.unreadable = tasks::UnreadableSamples::record;
  PictureNames names;
  bool has_new = false;
  const int64_t count = tasks::answer_all_given(
      answers, earlier.samples(), options,
      [&](int64_t index, const std::string& sample) {
        names.add(sample);
        return earlier.has(index);
      },
      [&](const tasks::PreparedSample& sample, const tasks::Record& record) {
        if (!std::exchange(has_new, true)) report_earlier_records(folder.records(), records, "");
        if (const auto* unreadable = dynamic_cast<const tasks::UnreadableSample*>(&sample))
          progress.log("skipped: " + unreadable->problem);
        else
          folder.write_picture(names.of(sample.index), draws.picture_of_answer(sample, record, least_score));
        earlier.append(record, sample.index, origin_of(sample, form, source));  // last: a record's picture is there
        progress.show(sample.index + 1, "samples");
      });
  progress.finish();
  if (!has_new) report_earlier_records(folder.records(), records, " of " + std::to_string(count));
  const int64_t unreadable = count_unreadable(tasks::records_in(folder.records(), count));
  std::string written;
  if (auto* results = dynamic_cast<tasks::WritesResults*>(&task)) {
    const auto files = results->results_of_given(tasks::records_in(folder.records(), count));
    folder.write(files);
    for (const tasks::NamedFile& file : files) written += ", " + file.name;
  }
  for (const std::string& note : answers.notes_on_given()) std::cerr << note << '\n';
  std::cout << folder.path().string() << ": " << count - unreadable
            << (count - unreadable == 1 ? " picture" : " pictures") << written << '\n';
  if (unreadable == 0) return kDone;
  std::cerr << unreadable << " of " << count << (count == 1 ? " image" : " images") << " could not be read; "
            << folder.records().string() << " lists the reasons\n";
  return kFailed;
}

void predict_evaluation(tasks::Task& task, const PredictArguments& arguments, RecordOutput& output,
                        CountedProgress& progress) {
  auto& answers = capability_of<tasks::AnswersEvaluationSamples>(task, "predict its evaluation samples one by one");
  const int64_t size = task.evaluation_size();
  const std::string source = output.source().of_evaluation(task);
  if (!arguments.output.path.empty())
    for (const auto& [split, images] : task.image_sources()) images->keep_digests();
  const tasks::OriginOf origin = [&](int64_t index) {
    return tasks::RecordOrigin{source, answers.sample_digest(index)};
  };
  output.open();
  if (tasks::RecordFile* earlier = output.earlier())
    tasks::require_all(
        *earlier, origin, [&] { return output.source().old_sources_of_evaluation(task); },
        [&](int64_t index) {
          return tasks::RecordOrigin{source, answers.earlier_digest(index)};
        });
  int64_t done = output.done();
  output.require_at_most(size);
  output.say_done(" of " + std::to_string(size));
  if (done < size)
    answers.answer_evaluation(done, arguments.answers(), [&](const tasks::Record& record) {
      output.write(record, [&] { return origin(done); });
      progress.show(++done, size);
    });
  progress.finish();
  output.finish();
}

/// Options that have no effect on a task.
void refuse_options_for(const tasks::Task& task, const PredictArguments& arguments) {
  const auto* answers = dynamic_cast<const tasks::Predictor*>(&task);
  if ((arguments.top || arguments.logits) && answers && !answers->ranks_classes())
    throw UsageError(
        "--top and --logits work only with models that give each sample a class; leave --top and --logits out for " +
        arguments.model.path);
}

int run_predict(const PredictArguments& arguments) {
  if (!arguments.samples.empty() && !arguments.lines.empty())
    throw UsageError("give the samples on the command line or in the file of --lines, not in both");
  const auto open = [&](const std::vector<std::string>& settings) {
    return arguments.gives_samples() ? tasks::open_saved_run(arguments.model.path, settings)
                                     : tasks::open_to_evaluate(arguments.model.path, settings);
  };
  const tasks::SavedRun saved = open(arguments.model.all_settings());
  if (!arguments.gives_samples())
    require_data(saved, arguments.model);
  else if (const auto absent = saved.plan.task->absent_data(); absent && !arguments.model.data.empty())
    std::cerr << *absent << "\nThe prediction continues, because your samples do not need these data.\n";
  std::optional<PredictionFolder> folder;
  std::optional<RecordOutput> records;
  const bool draws = PredictionFolder::is_meant(arguments.output.path);
  if (arguments.least_score && !draws)
    throw UsageError("--least-score works only with pictures, which -o FOLDER writes");
  const double least_score = arguments.least_score.value_or(kUsualLeastScore);
  const tasks::RecordSource source(
      saved, arguments.answers(),
      least_score == kUsualLeastScore ? std::string() : "drawn from " + report::format_number(least_score, 17));
  if (draws) {
    if (!arguments.gives_samples())
      throw UsageError(arguments.output.path +
                       ": -o FOLDER works only with images that you give on the command line; `" +
                       report::program_name() + " eval " + report::shell_word(arguments.model.path) + " -o " +
                       report::shell_word(arguments.output.path) + "` writes the results for the evaluation data");
    folder.emplace(arguments.output, arguments.inputs());
  } else {
    records.emplace(arguments.output, arguments.inputs(), source);
  }
  const auto task =
      load(saved, arguments.model, arguments.gives_samples() ? tasks::Splits::given : tasks::Splits::test);
  refuse_options_for(*task, arguments);
  const train::InferenceScope inference(task->model(), {.precision = saved.plan.training.train.precision});
  CountedProgress progress("predict", arguments.progress,
                           {.results_on_terminal = arguments.output.path.empty() && report::is_terminal(STDOUT_FILENO),
                            .asked_line_by_line = arguments.asks_line_by_line()});
  if (folder) return predict_into_folder(*task, arguments, *folder, source, progress);
  RecordOutput& output = *records;
  // A table has no room for logits.
  if (arguments.output.path.empty() && !arguments.json && !arguments.logits && report::is_terminal(STDOUT_FILENO)) {
    const auto* classifier = dynamic_cast<const tasks::ClassificationTask*>(task.get());
    output.print_rows(classifier == nullptr ? std::vector<std::string>() : classifier->class_names(),
                      report::text_columns(STDOUT_FILENO));
  }
  if (arguments.gives_samples()) {
    predict_given(*task, arguments, output, progress);
  } else {
    if (const std::string place = where_data_lie(saved.plan); !place.empty())
      std::cerr << "answering " << task->evaluation_size() << ' ' << task->sample_words().held_out << ' '
                << task->sample_words().many << place << '\n';
    predict_evaluation(*task, arguments, output, progress);
  }
  return kDone;
}

Action declare_predict(CLI::App& app) {
  auto arguments = std::make_shared<PredictArguments>();
  add_saved_run(app, arguments->model);
  app.add_option("SAMPLES", arguments->samples,
                 "JPEG or PNG files, folders of such files, or texts. For a model of pairs, a sample is two texts with "
                 "a tab between them. If you give no samples, the command uses the test split")
      ->type_name("");
  app.add_option("--lines", arguments->lines, "A file with one sample in each line; - is standard input")
      ->type_name("FILE");
  add_number(app, "--top", arguments->top, "Number of classes to print for each sample (default: 5)", {1, 1000})
      ->type_name("K");
  app.add_flag("--logits", arguments->logits,
               "Also write the logit of each class (the score before softmax), by label");
  app.add_flag("--json", arguments->json, "Print JSON lines, even on a terminal, where a table is the default");
  add_number(app, "--least-score", arguments->least_score,
             "With -o FOLDER: draw only objects with at least this score (default: 0.3)", {0, 1})
      ->type_name("X");
  add_output(app, arguments->output,
             "A file for JSON lines, or a folder for annotated pictures and files of results. Existing predictions "
             "of the same model with the same options are reused",
             "FILE.jsonl|FOLDER");
  add_progress_option(app, arguments->progress);
  return [arguments] {
    for (std::string& sample : arguments->samples) sample = whole_text(std::move(sample));
    return run_predict(*arguments);
  };
}

const Registration registered_predict({Topic::runs,
                                       "predict",
                                       "Predict with a trained model: a table, JSON lines, or annotated pictures",
                                       {"cachet predict my-run -o predictions.jsonl --top 3",
                                        "cachet predict my-run boot.png bag.jpg --logits",
                                        "cachet predict my-text-run 'A film to forget.' --top 2"},
                                       declare_predict,
                                       /*takes_texts=*/true});

}  // namespace
}  // namespace cachet::app
