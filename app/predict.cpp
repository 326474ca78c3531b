#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/ability.h"
#include "app/command.h"
#include "app/counted_progress.h"
#include "app/data_place.h"
#include "app/given_samples.h"
#include "app/output.h"
#include "app/prediction_folder.h"
#include "app/progress_argument.h"
#include "app/recipe_argument.h"
#include "cachet/io/error.h"
#include "cachet/report/program_name.h"
#include "cachet/report/shell_word.h"
#include "cachet/report/terminal.h"
#include "cachet/tasks/records.h"
#include "cachet/tasks/saved_run.h"
#include "cachet/train/runtime.h"

namespace cachet::app {
namespace {

constexpr double kUsualLeastScore = 0.3;

struct PredictArguments {
  SavedRunArgument model;
  OutputArgument output;
  std::vector<std::string> samples;  // names of image files, or texts
  std::string lines;                 // a file of such
  tasks::AnswerOptions answers;
  std::optional<double> least_score;  // of what is drawn
  std::string progress = "auto";

  bool gives_samples() const { return !samples.empty() || !lines.empty(); }
  bool asks_line_by_line() const { return !lines.empty() && comes_line_by_line(lines); }
};

/// Where records go: a file that grows, or standard output.
class RecordOutput {
 public:
  RecordOutput(const OutputArgument& output, tasks::RecordSource source)
      : path_(output.path), source_(std::move(source)) {
    if (path_.empty()) return;
    require_file_output(output, {{".jsonl"}, {}, [](const auto&) { return true; }});  // its records say whose they are
    earlier_ = output.overwrite ? tasks::EarlierRecords::replaced : tasks::EarlierRecords::gone_on_with;
  }

  /// Before the first record, and behind all that may fail: what is replaced goes now.
  void open() {
    if (!path_.empty()) file_.emplace(path_, earlier_);
  }

  int64_t done() const { return file_ ? file_->done() : 0; }
  const tasks::RecordSource& source() const { return source_; }

  /// Whether record `index` is there already, of that source.
  bool has(int64_t index, const std::string& source) const {
    if (index >= done()) return false;
    file_->require(index, source);
    return true;
  }
  void require_at_most(int64_t samples) const {
    if (file_) file_->require_at_most(samples);
  }

  void write(const tasks::Record& record, const std::string& source) {
    if (file_) {
      file_->append(record, source);
    } else if (!(std::cout << record << std::flush)) {
      throw std::runtime_error("standard output: cannot be written");
    }
  }

  /// Before the first record that is new: how many of how many are there.
  void say_done(const std::string& of_all) const {
    if (done() > 0)
      std::cerr << path_ << " holds " << done() << of_all << (done() == 1 ? " prediction" : " predictions")
                << "; going on\n";
  }

 private:
  std::string path_;
  tasks::RecordSource source_;
  tasks::EarlierRecords earlier_ = tasks::EarlierRecords::gone_on_with;
  std::optional<tasks::RecordFile> file_;
};

/// A file's name where a text should be is a text too, but hardly what was meant.
void warn_of_files(const std::vector<std::string>& texts) {
  std::error_code error;
  for (const std::string& text : texts)
    if (std::filesystem::is_regular_file(text, error))
      std::cerr << io::in_quotes(text) << " is classified as a text; for the lines of that file: --lines "
                << report::shell_word(text) << '\n';
}

tasks::NextSample given_samples(const PredictArguments& arguments, tasks::SampleForm form) {
  if (!arguments.lines.empty()) return samples_of_lines(arguments.lines);
  if (form == tasks::SampleForm::text) warn_of_files(arguments.samples);
  return samples_of_arguments(arguments.samples, form);
}

void predict_given(tasks::Task& task, const PredictArguments& arguments, RecordOutput& output,
                   CountedProgress& progress) {
  auto& answers = ability_of<tasks::AnswersGivenSamples>(task, "answer samples that are given");
  const auto source_of = [&](const std::string& sample) {
    return output.source().of_given(sample, answers.sample_form());
  };
  tasks::GivenOptions options{arguments.answers};
  if (arguments.asks_line_by_line()) options.batch = 1;
  const int64_t done = output.done();
  const int64_t count = tasks::answer_all_given(
      answers, given_samples(arguments, answers.sample_form()), options,
      [&](int64_t index, const std::string& sample) { return index < done && output.has(index, source_of(sample)); },
      [&](const tasks::PreparedSample& sample, const tasks::Record& record) {
        if (sample.index == done) output.say_done("");
        output.write(record, source_of(sample.given));
        progress.show(sample.index + 1, "samples");
      });
  progress.finish();
  output.require_at_most(count);
  if (count == output.done()) output.say_done(" of " + std::to_string(count));
  for (const std::string& note : answers.notes_on_given()) std::cerr << note << '\n';
}

std::vector<std::filesystem::path> inputs_of(const PredictArguments& arguments) {
  std::vector<std::filesystem::path> inputs(arguments.samples.begin(), arguments.samples.end());
  if (!arguments.lines.empty()) inputs.emplace_back(arguments.lines);
  return inputs;
}

/// How many records say that their sample could not be read.
int64_t count_unreadable(const tasks::NextRecord& next) {
  int64_t count = 0;
  while (const auto record = next()) count += nlohmann::json::parse(*record).contains("error") ? 1 : 0;
  return count;
}

/// Pictures with what was found drawn over them, and files of results: all that a folder holds of given samples.
int predict_into_folder(tasks::Task& task, const PredictArguments& arguments, const PredictionFolder& folder,
                        const tasks::RecordSource& source, CountedProgress& progress) {
  auto& answers = ability_of<tasks::AnswersGivenSamples>(task, "answer samples that are given");
  auto& draws = ability_of<tasks::DrawsAnswers>(task, "draw its answers into a folder (-o FILE.jsonl writes them)");
  const auto source_of = [&](const std::string& sample) { return source.of_given(sample, answers.sample_form()); };
  const double least_score = arguments.least_score.value_or(kUsualLeastScore);
  tasks::RecordFile records = folder.open_records();
  const int64_t done = records.done();
  tasks::GivenOptions options{arguments.answers};
  options.unreadable = tasks::UnreadableSamples::record;
  PictureNames names;
  const int64_t count = tasks::answer_all_given(
      answers, given_samples(arguments, answers.sample_form()), options,
      [&](int64_t index, const std::string& sample) {
        names.add(sample);
        if (index >= done) return false;
        records.require(index, source_of(sample));
        return true;
      },
      [&](const tasks::PreparedSample& sample, const tasks::Record& record) {
        if (sample.index == done) say_gone_on_with(folder, done, "");
        if (const auto* unreadable = dynamic_cast<const tasks::UnreadableSample*>(&sample))
          progress.log("passed over: " + unreadable->problem);
        else
          folder.write_picture(names.of(sample.index), draws.picture_of_answer(sample, record, least_score));
        records.append(record, source_of(sample.given));  // last: a record's picture is there
        progress.show(sample.index + 1, "samples");
      });
  progress.finish();
  records.require_at_most(count);
  if (count == done) say_gone_on_with(folder, done, " of " + std::to_string(count));
  const int64_t unreadable = count_unreadable(tasks::records_in(folder.records(), count));
  std::string written;
  if (auto* results = dynamic_cast<tasks::WritesResults*>(&task)) {
    const auto files = results->results_of_given(tasks::records_in(folder.records(), count));
    folder.write(files);
    for (const tasks::NamedFile& file : files) written += ", " + file.name;
  }
  std::cout << folder.path().string() << ": " << count - unreadable
            << (count - unreadable == 1 ? " picture" : " pictures") << written << '\n';
  if (unreadable == 0) return kDone;
  std::cerr << unreadable << " of " << count << (count == 1 ? " image" : " images") << " could not be read; "
            << folder.records().string() << " says why\n";
  return kFailed;
}

void predict_evaluation(tasks::Task& task, const PredictArguments& arguments, RecordOutput& output,
                        CountedProgress& progress) {
  auto& answers = ability_of<tasks::AnswersEvaluationSamples>(task, "answer its evaluation data one by one");
  const int64_t size = task.evaluation_size();
  const std::string source = output.source().of_evaluation(task);
  int64_t done = output.done();
  for (int64_t i = 0; i < output.done(); ++i) output.has(i, source);
  output.require_at_most(size);
  output.say_done(" of " + std::to_string(size));
  if (done < size)
    answers.answer_evaluation(done, arguments.answers, [&](const tasks::Record& record) {
      output.write(record, source);
      progress.show(++done, size);
    });
  progress.finish();
}

int run_predict(const PredictArguments& arguments) {
  if (!arguments.samples.empty() && !arguments.lines.empty())
    throw UsageError("samples stand on the command line or in the file of --lines, not in both");
  const tasks::SavedRun saved = tasks::open_saved_run(arguments.model.path, arguments.model.all_settings());
  if (!arguments.gives_samples() || !arguments.model.data.empty()) require_data(saved, arguments.model);
  std::optional<PredictionFolder> folder;
  std::optional<RecordOutput> records;
  const bool draws = PredictionFolder::is_meant(arguments.output.path);
  if (arguments.least_score && !draws) throw UsageError("--least-score is of pictures, which -o FOLDER writes");
  const tasks::RecordSource source(
      saved, arguments.answers,
      arguments.least_score ? "drawn from " + std::to_string(*arguments.least_score) : std::string());
  if (draws) {
    if (!arguments.gives_samples())
      throw UsageError(arguments.output.path + ": a folder is for images that are given; `" + report::program_name() +
                       " eval " + report::shell_word(arguments.model.path) + " -o " +
                       report::shell_word(arguments.output.path) + "` writes what is found in the evaluation data");
    folder.emplace(arguments.output, inputs_of(arguments));
  } else {
    records.emplace(arguments.output, source);
  }
  const auto task =
      load(saved, arguments.model, arguments.gives_samples() ? tasks::Splits::given : tasks::Splits::test);
  const train::PrecisionScope precision(saved.plan.training.train.precision, train::device_of(task->model()).type());
  CountedProgress progress("predict", arguments.progress,
                           {.results_on_terminal = arguments.output.path.empty() && report::is_terminal(STDOUT_FILENO),
                            .asked_line_by_line = arguments.asks_line_by_line()});
  if (folder) return predict_into_folder(*task, arguments, *folder, source, progress);
  RecordOutput& output = *records;
  output.open();
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
                 "JPEG or PNG files or folders of them, or texts (two with a tab between them for a model of pairs), "
                 "instead of the test split")
      ->type_name("");
  app.add_option("--lines", arguments->lines, "A file with a sample a line; - is standard input")->type_name("FILE");
  app.add_option("--top", arguments->answers.top, "Classes to name for each sample (5)")
      ->check(CLI::Range(int64_t{1}, int64_t{1000}))
      ->type_name("K");
  app.add_flag("--logits", arguments->answers.logits,
               "Add what the model gives for every class, by label, before softmax");
  app.add_option("--least-score", arguments->least_score, "Of pictures: draw what is at least so sure (0.3)")
      ->check(CLI::Range(0.0, 1.0))
      ->type_name("X");
  add_output(app, arguments->output,
             "A file of JSON lines, or a folder for pictures with what was found drawn over them and files of "
             "results; what it holds of the same is not done again",
             "FILE.jsonl|FOLDER");
  add_progress_option(app, arguments->progress);
  return [arguments] {
    for (std::string& sample : arguments->samples) sample = whole_text(std::move(sample));
    return run_predict(*arguments);
  };
}

const Registration registered_predict({Topic::runs,
                                       "predict",
                                       "Answer samples with a trained model, a JSON line each, or draw what it finds",
                                       {"cachet predict my-run -o predictions.jsonl --top 3",
                                        "cachet predict my-run boot.png bag.jpg --logits",
                                        "cachet predict my-text-run 'A film to forget.' --top 2"},
                                       declare_predict,
                                       /*takes_texts=*/true});

}  // namespace
}  // namespace cachet::app
